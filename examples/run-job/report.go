package main

import (
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

	// ran is how many Jobs and pods there were to run.
	ran int
	// unfinished says that some of them had not ended.
	unfinished bool
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

	// indexes is how many indexes, or numbers of pods, the Job has had.
	indexes int
	indexed bool
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

// report puts what stands on the cluster in the end beside when it happened.
func (f *follower) report(made []*unstructured.Unstructured) *report {
	w := f.world
	r := &report{Jobs: []jobReport{}, Workloads: []workloadReport{}, PodGroups: []groupReport{}, Pods: []podReport{}, Timeline: f.timeline()}
	wanted := map[types.UID]bool{}
	for _, object := range made {
		wanted[object.GetUID()] = true
		if runs(object) {
			r.ran++
		}
	}
	for _, job := range all[*batchv1.Job](w) {
		if w.gone[job.UID] && !wanted[job.UID] {
			continue
		}
		indexes, indexed := indexes(job)
		r.Jobs = append(r.Jobs, jobReport{
			indexes: indexes, indexed: indexed,
			Namespace: job.Namespace, Name: job.Name, Succeeded: job.Status.Succeeded, Failed: job.Status.Failed,
			Progress: progressOf(job), Deleted: w.gone[job.UID], Conditions: jobConditions(job.Status.Conditions), When: f.when(job.UID),
		})
	}
	for _, workload := range all[*schedulingv1alpha2.Workload](w) {
		r.Workloads = append(r.Workloads, workloadReport{
			Namespace: workload.Namespace, Name: workload.Name, Templates: templates(workload), When: f.when(workload.UID),
		})
	}
	for _, g := range all[*schedulingv1alpha2.PodGroup](w) {
		r.PodGroups = append(r.PodGroups, groupReport{
			Namespace: g.Namespace, Name: g.Name, Workload: workloadOf(g), Policy: policyText(g.Spec.SchedulingPolicy),
			Conditions: conditions(g.Status.Conditions), When: f.when(g.UID),
		})
	}
	for _, pod := range all[*corev1.Pod](w) {
		p := podReport{Namespace: pod.Namespace, Name: pod.Name, PodGroup: groupOf(pod), Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase), When: f.when(pod.UID)}
		if core.PodFinished(pod) {
			p.ExitCode = exitCode(pod)
		}
		r.Pods = append(r.Pods, p)
	}
	return r
}

// indexes returns how many indexes a Job has; in one that is not Indexed each pod has a number of its own.
func indexes(job *batchv1.Job) (n int, indexed bool) {
	if job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion && job.Spec.Completions != nil {
		return int(*job.Spec.Completions), true
	}
	return int(job.Status.Active + job.Status.Succeeded + job.Status.Failed), false
}

// templates says what pod groups a Workload is for.
func templates(workload *schedulingv1alpha2.Workload) []string {
	var list []string
	for _, t := range workload.Spec.PodGroupTemplates {
		list = append(list, t.Name+": "+policyText(t.SchedulingPolicy))
	}
	return list
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

// finishedBy reports how a Job ended; ended is false while it runs.
func finishedBy(job *batchv1.Job) (condition *batchv1.JobCondition, ended bool) {
	kind, ended := batch.Finished(job)
	if !ended {
		return nil, false
	}
	return batch.Condition(job, kind), true
}
