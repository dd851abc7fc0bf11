package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ReasonPodLost is the reason for which a Job fails whose controller has [Options].AtMostOnce: a pod vanished before its
// end was seen.
const ReasonPodLost = "PodLost"

// replacedWhenEnded returns job with the policy to replace pods that have ended, and no others. The copy is not stored.
func replacedWhenEnded(job *batchv1.Job) *batchv1.Job {
	copied := *job
	copied.Spec.PodReplacementPolicy = new(batchv1.Failed)
	return &copied
}

// lostMessage says which pod of a Job that must run no work twice has vanished, "" if none has. What was seen to vanish
// is remembered. What vanished while no controller looked is missed in the status: it says how many pods were active, and
// each of them still has the finalizer, whatever has become of it, until the status says so.
func lostMessage(s *snapshot, t *tally) string {
	if !s.limits.atMostOnce {
		return ""
	}
	if s.lost != "" {
		return fmt.Sprintf("Pod %s vanished before its end was seen, so its work may have been done", s.lost)
	}
	tracked := int32(0)
	for _, pod := range s.pods {
		if hasFinalizer(pod) && !t.listedSucceeded.Has(pod.UID) && !t.listedFailed.Has(pod.UID) {
			tracked++
		}
	}
	active := s.job.Status.Active
	if !s.settled || s.suspended() || active > valueOf(s.job.Spec.Parallelism) || tracked >= active {
		return "" // or pods are being removed on purpose
	}
	return fmt.Sprintf("%d of %d active pods vanished before their end was seen, so their work may have been done", active-tracked, active)
}

// dismiss notes pods that the controller deletes without counting them: their end need not be seen.
func (m *memory) dismiss(key jobKey, pods []*corev1.Pod) {
	m.change(key, func(r *jobRecord) {
		if r.dismissed == nil {
			r.dismissed = sets.New[types.UID]()
		}
		for _, pod := range pods {
			r.dismissed.Insert(pod.UID)
		}
	})
}

// podLost notes a pod that is gone without having ended, unless it was to go.
func (m *memory) podLost(key jobKey, pod *corev1.Pod) {
	m.change(key, func(r *jobRecord) {
		if r.dismissed.Has(pod.UID) || r.removals.Has(pod.UID) {
			delete(r.dismissed, pod.UID)
			return
		}
		r.lost = pod.Name
	})
}

func (m *memory) lost(key jobKey) (lost string) {
	m.view(key, func(r *jobRecord) { lost = r.lost })
	return lost
}
