package job

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
)

// podsToRemove returns at least n of the active pods: those that are least far along. In an Indexed Job pods without an
// index, with one that the Job does not have, or with one that another pod has too go first, and all of them.
func podsToRemove(s *snapshot, active []*corev1.Pod, n int) []*corev1.Pod {
	left := slices.Clone(active)
	var remove []*corev1.Pod
	if s.indexed() {
		remove, left = superfluous(s, left)
	}
	if missing := n - len(remove); missing > 0 {
		slices.SortStableFunc(left, compareProgress)
		remove = append(remove, left[:min(missing, len(left))]...)
	}
	return remove
}

// superfluous parts the pods of an Indexed Job into those that it can have no use for and the others. Of several pods
// with one index the one that is farthest along stays.
func superfluous(s *snapshot, pods []*corev1.Pod) (remove, left []*corev1.Pod) {
	best := map[int]*corev1.Pod{}
	for _, pod := range pods {
		if index, valid := s.validIndex(pod); valid {
			if have := best[index]; have == nil || compareProgress(have, pod) <= 0 {
				best[index] = pod
			}
		}
	}
	for _, pod := range pods {
		if index, valid := s.validIndex(pod); valid && best[index] == pod {
			left = append(left, pod)
		} else {
			remove = append(remove, pod)
		}
	}
	return remove, left
}

// compareProgress orders pods by how little is lost with them: not on a node before on one; pending, unknown, running;
// not ready before ready; ready for a shorter time first; more restarts first; younger
// first; the later name first.
func compareProgress(a, b *corev1.Pod) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank(a), phaseRank(b)),
		compareBool(core.PodReady(a), core.PodReady(b)),
		compareAge(core.ReadyTime(a), core.ReadyTime(b)),
		compareRestarts(a, b),
		compareAge(a.CreationTimestamp.Time, b.CreationTimestamp.Time),
		cmp.Compare(b.Name, a.Name), // so that the same one goes each time
	)
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func phaseRank(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodPending, "":
		return 0
	case corev1.PodUnknown:
		return 1
	default:
		return 2
	}
}

// compareAge puts the later time first, and an unknown one before all.
func compareAge(a, b time.Time) int {
	switch {
	case a.Equal(b):
		return 0
	case a.IsZero():
		return -1
	case b.IsZero():
		return 1
	default:
		return b.Compare(a)
	}
}

// compareRestarts puts the pod with more restarts first; sidecars count where regular containers tie.
func compareRestarts(a, b *corev1.Pod) int {
	regularA, sidecarsA := core.MaxRestarts(a)
	regularB, sidecarsB := core.MaxRestarts(b)
	return cmp.Or(cmp.Compare(regularB, regularA), cmp.Compare(sidecarsB, sidecarsA))
}
