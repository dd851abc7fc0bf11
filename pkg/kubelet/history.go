package kubelet

import (
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// history remembers which pods each Job had and how often their containers were started, so that an attempt can be
// told from the one before when the pod is another.
type history struct {
	mu   sync.Mutex
	jobs map[types.UID]*jobHistory
}

type jobHistory struct {
	// numbers are the pods' places in the order in which they were made.
	numbers map[types.UID]int
	// tries are the pods that were started, by index, the first that was started first.
	tries map[int][]*podTries
}

type podTries struct {
	pod    types.UID
	starts int
}

func newHistory() *history {
	return &history{jobs: map[types.UID]*jobHistory{}}
}

// jobOf returns the reference to the Job that controls the pod, nil if there is none.
func jobOf(pod *corev1.Pod) *metav1.OwnerReference {
	ref := metav1.GetControllerOf(pod)
	if ref == nil || ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	return ref
}

// see notes that the pod exists. Pods are to be seen in the order in which they were made.
func (h *history) see(pod *corev1.Pod) {
	ref := jobOf(pod)
	if ref == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.job(ref.UID).number(pod.UID)
	// A pod that another kubelet started counts as well.
	if starts := startsOf(pod); starts > 0 {
		h.job(ref.UID).note(indexOf(pod, h.job(ref.UID)), pod.UID, starts)
	}
}

// forget drops what is known of a Job that was deleted.
func (h *history) forget(job types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.jobs, job)
}

// attempt notes that a container of the pod is being started, after so many restarts in place, and says which attempt
// that is.
func (h *history) attempt(pod *corev1.Pod, container string, init bool, restarts int32) Attempt {
	a := Attempt{Pod: pod, Container: container, Init: init, Index: -1, Number: int(restarts) + 1}
	ref := jobOf(pod)
	if ref == nil {
		return a
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	job := h.job(ref.UID)
	a.Job, a.Index = ref.Name, indexOf(pod, job)
	a.Number += job.before(a.Index, pod.UID)
	if !init {
		job.note(a.Index, pod.UID, int(restarts)+1)
	}
	return a
}

func (h *history) job(uid types.UID) *jobHistory {
	job, known := h.jobs[uid]
	if !known {
		job = &jobHistory{numbers: map[types.UID]int{}, tries: map[int][]*podTries{}}
		h.jobs[uid] = job
	}
	return job
}

func (j *jobHistory) number(pod types.UID) int {
	number, known := j.numbers[pod]
	if !known {
		number = len(j.numbers)
		j.numbers[pod] = number
	}
	return number
}

// note records that the pod's containers were started so often, or more often than known.
func (j *jobHistory) note(index int, pod types.UID, starts int) {
	for _, try := range j.tries[index] {
		if try.pod == pod {
			try.starts = max(try.starts, starts)
			return
		}
	}
	j.tries[index] = append(j.tries[index], &podTries{pod: pod, starts: starts})
}

// before counts the starts of the pods of an index that came before the pod.
func (j *jobHistory) before(index int, pod types.UID) int {
	count := 0
	for _, try := range j.tries[index] {
		if try.pod == pod {
			break
		}
		count += try.starts
	}
	return count
}

// indexOf returns the pod's completion index, or its number among the Job's pods if it has none.
func indexOf(pod *corev1.Pod, job *jobHistory) int {
	if text, found := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; found {
		if index, err := strconv.Atoi(text); err == nil && index >= 0 {
			return index
		}
	}
	return job.number(pod.UID)
}

// startsOf counts how often the pod's containers were started according to its status.
func startsOf(pod *corev1.Pod) int {
	starts := 0
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Running != nil || status.State.Terminated != nil || status.LastTerminationState.Terminated != nil {
			starts = max(starts, int(status.RestartCount)+1)
		}
	}
	return starts
}
