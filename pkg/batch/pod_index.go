package batch

import (
	"math"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// CompletionIndex returns the completion index of a pod of an Indexed Job: the annotation
// batch.kubernetes.io/job-completion-index. ok is false when there is none, or it is no integer from 0 on. The label of
// the same name is not looked at.
func CompletionIndex(pod *corev1.Pod) (index int, ok bool) {
	value, found := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if !found {
		return 0, false
	}
	index, err := strconv.Atoi(value)
	if err != nil || index < 0 {
		return 0, false
	}
	return index, true
}

// IndexFailures returns how often the index of pod had failed before the pod was made: failures that count against
// spec.backoffLimitPerIndex, and those that a pod failure policy ignored (KEP-3850). The annotations
// batch.kubernetes.io/job-index-failure-count and job-index-ignored-failure-count hold them; what is missing or no
// number that fits an int32 reads as 0.
func IndexFailures(pod *corev1.Pod) (counted, ignored int32) {
	return countIn(pod, batchv1.JobIndexFailureCountAnnotation), countIn(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

func countIn(pod *corev1.Pod, annotation string) int32 {
	count, err := strconv.Atoi(pod.Annotations[annotation])
	if err != nil || count < 0 || count > math.MaxInt32 {
		return 0
	}
	return int32(count)
}
