package cluster_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// report is what a kubelet reports of pods, which are selected or named.
type report struct {
	Select     selection        `json:"select"`
	Name       string           `json:"name"`
	Phase      corev1.PodPhase  `json:"phase"`
	ExitCode   *int32           `json:"exitCode"`
	Conditions []map[string]any `json:"conditions"`
	Reason     string           `json:"reason"`
	Ready      bool             `json:"ready"`
	Restarts   int32            `json:"restarts"`
}

// selection is "all", or the pods of an index, or so many of the first, among those that have neither ended nor are
// being deleted, by index, age and name.
type selection struct {
	All   bool
	Index *int
	First *int
}

func (s *selection) UnmarshalJSON(data []byte) error {
	if string(data) == `"all"` {
		s.All = true
		return nil
	}
	var some struct {
		Index *int `json:"index"`
		First *int `json:"first"`
	}
	if err := decodeStrictly(data, &some); err != nil {
		return err
	}
	s.Index, s.First = some.Index, some.First
	if (s.Index == nil) == (s.First == nil) {
		return fmt.Errorf("selection %s: want one of index and first", data)
	}
	return nil
}

// epoch is when every pod of the recordings started.
const epoch = "2026-01-01T00:00:00Z"

// report writes the status that a kubelet would.
func (p *player) report(pods []object, r report) {
	p.Helper()
	for _, pod := range pods {
		status := map[string]any{
			"phase": r.Phase, "startTime": epoch, "containerStatuses": r.containers(pod),
			"conditions": append([]map[string]any{{"type": "Ready", "status": condition(r.Ready), "lastTransitionTime": epoch}}, r.Conditions...),
		}
		if r.Reason != "" {
			status["reason"] = r.Reason
		}
		p.patch(path("Pod", pod.GetName())+"/status", map[string]any{"status": status})
	}
}

func condition(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

func (r report) containers(pod object) []map[string]any {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers") // a pod of the server's is well formed
	var statuses []map[string]any
	for _, container := range containers {
		container := container.(map[string]any)
		statuses = append(statuses, map[string]any{
			"name": container["name"], "image": container["image"], "imageID": "",
			"ready": r.Ready, "restartCount": r.Restarts, "state": r.state(),
		})
	}
	return statuses
}

func (r report) state() map[string]any {
	code, reason := int32(0), "Completed"
	switch r.Phase {
	case corev1.PodSucceeded:
	case corev1.PodFailed:
		code, reason = 1, "Error"
	default:
		return map[string]any{"running": map[string]any{"startedAt": epoch}}
	}
	if r.ExitCode != nil {
		code = *r.ExitCode
	}
	return map[string]any{"terminated": map[string]any{
		"exitCode": code, "reason": reason, "startedAt": epoch, "finishedAt": "2026-01-01T00:01:00Z",
	}}
}

func (p *player) terminating() []object {
	p.Helper()
	return slices.DeleteFunc(p.list("Pod"), func(pod object) bool { return pod.GetDeletionTimestamp() == nil })
}

// selected returns pods that live.
func (p *player) selected(s selection) []object {
	p.Helper()
	pods := slices.DeleteFunc(p.list("Pod"), func(pod object) bool { return ended(pod) || pod.GetDeletionTimestamp() != nil })
	slices.SortFunc(pods, func(a, b object) int {
		created := a.GetCreationTimestamp()
		return cmp.Or(
			cmp.Compare(completionIndex(a), completionIndex(b)),
			created.Compare(b.GetCreationTimestamp().Time),
			cmp.Compare(a.GetName(), b.GetName()),
		)
	})
	switch {
	case s.Index != nil:
		return slices.DeleteFunc(pods, func(pod object) bool { return completionIndex(pod) != *s.Index })
	case s.First != nil:
		return pods[:min(*s.First, len(pods))]
	default:
		return pods
	}
}

func ended(pod object) bool {
	phase := corev1.PodPhase(phaseOf(pod))
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

func phaseOf(pod object) string {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase") // a pod of the server's is well formed
	return phase
}

// completionIndex returns the index of a pod of an Indexed Job, -1 for any other.
func completionIndex(pod object) int {
	index, err := strconv.Atoi(pod.GetAnnotations()[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return index
}
