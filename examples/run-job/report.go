package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// report is how the run ended. Offsets count from the start of the run.
type report struct {
	// Done says that every Job is Complete, or that there was nothing to run.
	Done bool `json:"done"`
	// Reason says why not, when Done is false.
	Reason    string           `json:"reason,omitempty"`
	Jobs      []jobReport      `json:"jobs"`
	Workloads []workloadReport `json:"workloads"`
	PodGroups []groupReport    `json:"podGroups"`
	Pods      []podReport      `json:"pods"`
	Timeline  []entry          `json:"timeline"`

	state state
}

type jobReport struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Succeeded  int32             `json:"succeeded"`
	Failed     int32             `json:"failed"`
	Progress   string            `json:"progress"`
	Deleted    bool              `json:"deleted,omitempty"`
	Conditions []conditionReport `json:"conditions"`
	When       map[string]offset `json:"when,omitempty"`
}

type workloadReport struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Templates []string          `json:"templates"`
	When      map[string]offset `json:"when,omitempty"`
}

type groupReport struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Workload   string            `json:"workload,omitempty"`
	Policy     string            `json:"policy"`
	Conditions []conditionReport `json:"conditions"`
	When       map[string]offset `json:"when,omitempty"`
}

type podReport struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	PodGroup  string            `json:"podGroup,omitempty"`
	Node      string            `json:"node,omitempty"`
	Phase     string            `json:"phase"`
	ExitCode  *int32            `json:"exitCode,omitempty"`
	When      map[string]offset `json:"when,omitempty"`
}

type conditionReport struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// state is what stood on the cluster at the end.
type state struct {
	made      []*unstructured.Unstructured
	jobs      []batchv1.Job
	pods      []corev1.Pod
	workloads []schedulingv1alpha2.Workload
	groups    []schedulingv1alpha2.PodGroup
	// deleted are the UIDs of those of the Jobs that are gone, and stand here as they were last.
	deleted []types.UID
}

// report reads what stands on the cluster and puts it beside what was seen happening.
func (c *clients) report(ctx context.Context, made []*unstructured.Unstructured, f *follower) (*report, error) {
	s, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	s.made = made
	for _, object := range made {
		if last := f.lastSeen(object.GetUID()); last != nil && s.job(last.UID) == nil {
			s.jobs = append(s.jobs, *last)
			s.deleted = append(s.deleted, last.UID)
		}
	}
	r := &report{Jobs: []jobReport{}, Workloads: []workloadReport{}, PodGroups: []groupReport{}, Pods: []podReport{}, Timeline: f.timeline(), state: s}
	for _, job := range s.jobs {
		r.Jobs = append(r.Jobs, jobReport{
			Namespace: job.Namespace, Name: job.Name, Succeeded: job.Status.Succeeded, Failed: job.Status.Failed,
			Progress: progress(&job), Deleted: slices.Contains(s.deleted, job.UID), Conditions: jobConditions(job.Status.Conditions), When: f.when(job.UID),
		})
	}
	for _, w := range s.workloads {
		var templates []string
		for _, t := range w.Spec.PodGroupTemplates {
			templates = append(templates, t.Name+": "+policyText(t.SchedulingPolicy))
		}
		r.Workloads = append(r.Workloads, workloadReport{Namespace: w.Namespace, Name: w.Name, Templates: templates, When: f.when(w.UID)})
	}
	for _, g := range s.groups {
		r.PodGroups = append(r.PodGroups, groupReport{
			Namespace: g.Namespace, Name: g.Name, Workload: workloadOf(&g), Policy: policyText(g.Spec.SchedulingPolicy),
			Conditions: conditions(g.Status.Conditions), When: f.when(g.UID),
		})
	}
	for _, pod := range s.pods {
		p := podReport{Namespace: pod.Namespace, Name: pod.Name, PodGroup: groupOf(&pod), Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase), When: f.when(pod.UID)}
		if core.PodFinished(&pod) {
			p.ExitCode = new(exitCode(&pod))
		}
		r.Pods = append(r.Pods, p)
	}
	return r, nil
}

func (c *clients) state(ctx context.Context) (state, error) {
	jobs, err := c.kube.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return state{}, fmt.Errorf("listing Jobs: %w", err)
	}
	pods, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return state{}, fmt.Errorf("listing Pods: %w", err)
	}
	workloads, err := c.muster.SchedulingV1alpha2().Workloads(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return state{}, fmt.Errorf("listing Workloads: %w", err)
	}
	groups, err := c.muster.SchedulingV1alpha2().PodGroups(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return state{}, fmt.Errorf("listing PodGroups: %w", err)
	}
	return state{jobs: jobs.Items, pods: pods.Items, workloads: workloads.Items, groups: groups.Items}, nil
}

func workloadOf(group *schedulingv1alpha2.PodGroup) string {
	if ref := group.Spec.PodGroupTemplateRef; ref != nil && ref.Workload != nil {
		return ref.Workload.WorkloadName
	}
	return ""
}

func jobConditions(list []batchv1.JobCondition) []conditionReport {
	out := []conditionReport{}
	for _, c := range list {
		out = append(out, conditionReport{string(c.Type), string(c.Status), c.Reason, c.Message})
	}
	return out
}

func conditions(list []metav1.Condition) []conditionReport {
	out := []conditionReport{}
	for _, c := range list {
		out = append(out, conditionReport{c.Type, string(c.Status), c.Reason, c.Message})
	}
	return out
}

// job returns the Job with a UID, or nil.
func (s state) job(uid types.UID) *batchv1.Job {
	i := slices.IndexFunc(s.jobs, func(j batchv1.Job) bool { return j.UID == uid })
	if i < 0 {
		return nil
	}
	return &s.jobs[i]
}

// pod returns the pod with a UID, or nil when it is gone.
func (s state) pod(uid types.UID) *corev1.Pod {
	i := slices.IndexFunc(s.pods, func(p corev1.Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	return &s.pods[i]
}

// podsOf returns the pods that a Job controls.
func (s state) podsOf(uid types.UID) []corev1.Pod {
	var pods []corev1.Pod
	for _, pod := range s.pods {
		if owningJob(&pod) == uid {
			pods = append(pods, pod)
		}
	}
	return pods
}

// finishedBy reports how a Job ended; ended is false while it runs.
func finishedBy(job *batchv1.Job) (condition *batchv1.JobCondition, ended bool) {
	kind, ended := batch.Finished(job)
	if !ended {
		return nil, false
	}
	return batch.Condition(job, kind), true
}

func qualified(object metav1.Object) string {
	return strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
}
