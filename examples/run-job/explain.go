package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/core"
)

// explain decides whether the run is done, and says why when it is not: which Jobs failed and by what, and what each
// unfinished one still waits for.
func (r *report) explain(timeout time.Duration, interrupted bool) {
	var failed, waiting []string
	for _, object := range r.state.made {
		switch object.GetKind() {
		case "Job":
			f, w := r.state.explainJob(object)
			failed, waiting = append(failed, f...), append(waiting, w...)
		case "Pod":
			f, w := r.state.explainPod(object)
			failed, waiting = append(failed, f...), append(waiting, w...)
		}
	}
	reasons := failed
	if len(waiting) > 0 {
		end := fmt.Sprintf("time ran out after %s", timeout)
		if interrupted {
			end = "interrupted"
		}
		reasons = append(reasons, end+": "+strings.Join(waiting, "; "))
	}
	r.Done = len(reasons) == 0
	r.Reason = strings.Join(reasons, "; ")
}

func (s state) explainJob(object *unstructured.Unstructured) (failed, waiting []string) {
	job := s.job(object.GetUID())
	if job == nil {
		return []string{fmt.Sprintf("Job %s was never seen", qualified(object))}, nil
	}
	condition, ended := finishedBy(job)
	switch {
	case ended && condition.Type == batchv1.JobFailed:
		return []string{fmt.Sprintf("Job %s failed: %s: %s", qualified(job), condition.Reason, condition.Message)}, nil
	case ended:
		return nil, nil
	case slices.Contains(s.deleted, job.UID):
		return []string{fmt.Sprintf("Job %s was deleted before it ended (%s succeeded)", qualified(job), progress(job))}, nil
	default:
		return nil, []string{fmt.Sprintf("Job %s (%s succeeded) %s", qualified(job), progress(job), s.waitsFor(job))}
	}
}

func (s state) explainPod(object *unstructured.Unstructured) (failed, waiting []string) {
	pod := s.pod(object.GetUID())
	switch {
	case pod == nil:
		return []string{fmt.Sprintf("Pod %s was deleted", qualified(object))}, nil
	case pod.Status.Phase == corev1.PodFailed:
		return []string{fmt.Sprintf("Pod %s failed with exit code %d", qualified(pod), exitCode(pod))}, nil
	case pod.Status.Phase == corev1.PodSucceeded:
		return nil, nil
	default:
		return nil, []string{fmt.Sprintf("Pod %s is %s%s", qualified(pod), pod.Status.Phase, because(pendingReason(pod)))}
	}
}

// waitsFor says what keeps an unfinished Job from its end.
func (s state) waitsFor(job *batchv1.Job) string {
	if job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != batchv1.JobControllerName {
		return fmt.Sprintf("waits for the controller that spec.managedBy names, %q, which does not run here", *job.Spec.ManagedBy)
	}
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return "is suspended: spec.suspend is true"
	}
	if job.Spec.Parallelism != nil && *job.Spec.Parallelism == 0 {
		return "has no pods: spec.parallelism is 0"
	}
	pods := s.podsOf(job.UID)
	parts := slices.Concat(s.gangs(job, pods), pendingPods(pods))
	if running := count(pods, corev1.PodRunning); running > 0 {
		parts = append(parts, fmt.Sprintf("%d pods are running", running))
	}
	if len(parts) == 0 {
		return "has no pods now: a failed one is replaced after its back-off"
	}
	return strings.Join(parts, ", ")
}

// gangs says which pod groups of a Job have not been placed, and how many pods each waits for.
func (s state) gangs(job *batchv1.Job, pods []corev1.Pod) []string {
	var parts []string
	for _, group := range s.groups {
		gang := group.Spec.SchedulingPolicy.Gang
		if gang == nil || !metav1.IsControlledBy(&group, job) {
			continue
		}
		bound, finished, members := 0, 0, 0
		for _, pod := range pods {
			if groupOf(&pod) != group.Name {
				continue
			}
			members++
			if core.PodFinished(&pod) {
				finished++
			} else if pod.Spec.NodeName != "" {
				bound++
			}
		}
		if bound+finished >= int(gang.MinCount) {
			continue
		}
		parts = append(parts, fmt.Sprintf("gang %s waits until %d pods fit at once (%d exist, %d placed)%s",
			group.Name, gang.MinCount, members, bound, because(groupReason(&group))))
	}
	return parts
}

func groupReason(group *schedulingv1alpha2.PodGroup) string {
	i := conditionIndex(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled)
	if i < 0 || group.Status.Conditions[i].Status == metav1.ConditionTrue {
		return ""
	}
	return group.Status.Conditions[i].Message
}

// pendingPods names the pods without a node, those that wait for the same thing together.
func pendingPods(pods []corev1.Pod) []string {
	waiting := map[string][]string{}
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil && pod.Spec.NodeName == "" {
			reason := pendingReason(&pod)
			waiting[reason] = append(waiting[reason], pod.Name)
		}
	}
	var parts []string
	for reason, names := range waiting {
		slices.Sort(names)
		parts = append(parts, fmt.Sprintf("pending: %s%s", strings.Join(names, ", "), because(reason)))
	}
	slices.Sort(parts)
	return parts
}

func count(pods []corev1.Pod, phase corev1.PodPhase) int {
	n := 0
	for _, pod := range pods {
		if pod.Status.Phase == phase {
			n++
		}
	}
	return n
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
