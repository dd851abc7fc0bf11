package clustertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/core"
)

// Bounds of what a failure tells.
const (
	mostPodsTold   = 8
	mostEventsTold = 8
)

// whyUnfinished tells what a Job that has not ended was last seen waiting for: its own counts and conditions, those of
// its pods that have not ended, and what events last said of it and of them.
func (c *Cluster) whyUnfinished(job *batchv1.Job) string {
	c.t.Helper()
	if job == nil {
		return ""
	}
	pods := slices.DeleteFunc(c.PodsOf(job.Namespace+"/"+job.Name), func(pod corev1.Pod) bool {
		return core.PodFinished(&pod) && len(pod.Finalizers) == 0 && pod.DeletionTimestamp == nil
	})
	events, err := c.Kube.CoreV1().Events(job.Namespace).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatalf("listing events of namespace %s: %v", job.Namespace, err)
	}
	return strings.Join(slices.Concat([]string{jobLine(job)}, podLines(pods), eventLines(job, pods, events.Items), []string{""}), "\n")
}

func jobLine(job *batchv1.Job) string {
	s := job.Status
	lines := []string{fmt.Sprintf("Job %s/%s has %d active, %d terminating, %d succeeded and %d failed pods",
		job.Namespace, job.Name, s.Active, value(s.Terminating), s.Succeeded, s.Failed)}
	if value(job.Spec.Suspend) {
		lines[0] += ", and is suspended"
	}
	for _, condition := range s.Conditions {
		lines = append(lines, fmt.Sprintf("    %s is %s: %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message))
	}
	return strings.Join(lines, "\n")
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func podLines(pods []corev1.Pod) []string {
	var lines []string
	for i, pod := range pods {
		if i == mostPodsTold {
			return append(lines, fmt.Sprintf("  and %d more pods", len(pods)-i))
		}
		line := fmt.Sprintf("  pod %s is %s", pod.Name, pod.Status.Phase)
		if pod.Spec.NodeName != "" {
			line += " on " + pod.Spec.NodeName
		}
		if pod.DeletionTimestamp != nil {
			line += ", and is being deleted"
		}
		if len(pod.Finalizers) > 0 {
			line += ", held by " + strings.Join(pod.Finalizers, ", ")
		}
		lines = append(lines, line)
		for _, condition := range pod.Status.Conditions {
			if condition.Status != corev1.ConditionTrue && condition.Reason != "" {
				lines = append(lines, fmt.Sprintf("    %s is %s: %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message))
			}
		}
	}
	return lines
}

// eventLines tells the last events of a Job and of pods.
func eventLines(job *batchv1.Job, pods []corev1.Pod, events []corev1.Event) []string {
	of := map[types.UID]bool{job.UID: true}
	for _, pod := range pods {
		of[pod.UID] = true
	}
	events = slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool { return !of[e.InvolvedObject.UID] })
	slices.SortStableFunc(events, func(a, b corev1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var lines []string
	if more := len(events) - mostEventsTold; more > 0 {
		lines, events = append(lines, fmt.Sprintf("  %d earlier events", more)), events[more:]
	}
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("  event of %s %s: %s: %s", strings.ToLower(e.InvolvedObject.Kind), e.InvolvedObject.Name, e.Reason, e.Message))
	}
	return lines
}
