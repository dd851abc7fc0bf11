package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/musterkube/muster/pkg/core"
)

// explain decides whether the run is done, and says why when it is not: which Jobs failed and by what, and what each
// unfinished one still waits for. The end is why it was not waited for any longer; delay is the first back-off of a Job.
func (r *report) explain(w *world, made []*unstructured.Unstructured, end string, now time.Time, delay time.Duration) {
	var failed, waiting []string
	for _, object := range made {
		if !runs(object) {
			continue
		}
		var fault, wait string
		if object.GetKind() == "Job" {
			fault, wait = w.explainJob(object, now, delay)
		} else {
			fault, wait = w.explainPod(object)
		}
		failed, waiting = append(failed, fault), append(waiting, wait)
	}
	present := func(list []string) []string {
		return slices.DeleteFunc(list, func(text string) bool { return text == "" })
	}
	reasons := present(failed)
	if waiting = present(waiting); len(waiting) > 0 {
		reasons = append(reasons, end+": "+strings.Join(waiting, "; "))
	}
	r.Done = len(reasons) == 0
	r.unfinished = len(waiting) > 0
	r.Reason = strings.Join(reasons, "; ")
}

func (w *world) explainJob(object *unstructured.Unstructured, now time.Time, delay time.Duration) (failed, waiting string) {
	job := withUID[*batchv1.Job](w, object.GetUID())
	if job == nil {
		return "", fmt.Sprintf("Job %s has not been seen yet", qualified(object))
	}
	condition, ended := finishedBy(job)
	switch {
	case ended && condition.Type == batchv1.JobFailed:
		return fmt.Sprintf("Job %s failed: %s", qualified(job), joined(condition.Reason, condition.Message)), ""
	case ended:
		return "", ""
	case w.gone[job.UID]:
		return fmt.Sprintf("Job %s was deleted before it ended (%s succeeded)", qualified(job), progressOf(job)), ""
	default:
		view := jobView{job: job, pods: w.podsOf(job.UID), events: w.eventsOf(job.UID), world: w, now: now, delay: delay}
		return "", fmt.Sprintf("Job %s (%s succeeded) %s", qualified(job), progressOf(job), view.waitsFor())
	}
}

func (w *world) explainPod(object *unstructured.Unstructured) (failed, waiting string) {
	pod := withUID[*corev1.Pod](w, object.GetUID())
	switch {
	case pod == nil && w.gone[object.GetUID()]:
		return fmt.Sprintf("Pod %s was deleted", qualified(object)), ""
	case pod == nil:
		return "", fmt.Sprintf("Pod %s has not been seen yet", qualified(object))
	case pod.Status.Phase == corev1.PodFailed:
		text := fmt.Sprintf("Pod %s failed", qualified(pod))
		if code := exitCode(pod); code != nil {
			text += fmt.Sprintf(" with exit code %d", *code)
		}
		return text + because(joined(pod.Status.Reason, pod.Status.Message)), ""
	case core.PodFinished(pod):
		return "", ""
	default:
		parts := []string{w.podWaitsFor(pod)}
		for _, group := range w.groupsOf(pod) {
			parts = append(parts, w.gangText(group))
		}
		return "", fmt.Sprintf("Pod %s is %s%s", qualified(pod), pod.Status.Phase, because(joined(parts...)))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
