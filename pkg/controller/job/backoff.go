package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// backoffRecord is what the delay before the next pod of a Job depends on. It lives in memory alone: after a restart
// the delay begins anew.
type backoffRecord struct {
	// failures is how many pods have failed since one succeeded last, ignored failures included.
	failures int
	// last is when the last of them ended.
	last time.Time
}

// after returns the record with pods that have ended since.
func (r backoffRecord) after(succeeded, failed []*corev1.Pod) backoffRecord {
	if len(succeeded) > 0 {
		lastSuccess := lastFinish(succeeded)
		failed = slices.DeleteFunc(slices.Clone(failed), func(pod *corev1.Pod) bool {
			return !core.FinishTime(pod).After(lastSuccess)
		})
		r = backoffRecord{}
	}
	if len(failed) == 0 {
		return r
	}
	return backoffRecord{failures: r.failures + len(failed), last: lastFinish(failed)}
}

func lastFinish(pods []*corev1.Pod) time.Time {
	last := core.FinishTime(pods[0])
	for _, pod := range pods[1:] {
		if finish := core.FinishTime(pod); finish.After(last) {
			last = finish
		}
	}
	return last
}

// remaining returns how long the next pod must wait, zero if not at all.
func (r backoffRecord) remaining(now time.Time, l limits) time.Duration {
	if r.failures == 0 {
		return 0
	}
	delay := l.podBackoff
	for i := 1; i < r.failures && delay < l.maxPodBackoff; i++ {
		delay *= 2
	}
	if r.failures > 1 {
		// As in Kubernetes the bound holds from the second failure on.
		delay = min(delay, l.maxPodBackoff)
	}
	return max(delay-now.Sub(r.last), 0)
}

// failuresThatWait returns those of failed pods that put off the next one.
func (s *snapshot) failuresThatWait(failed []*corev1.Pod) []*corev1.Pod {
	if s.limits.ignoredWait {
		return failed
	}
	return slices.DeleteFunc(slices.Clone(failed), func(pod *corev1.Pod) bool { return !s.isCounted(pod) })
}

// isCounted reports whether no rule of the pod failure policy lets the failure of pod pass.
func (s *snapshot) isCounted(pod *corev1.Pod) bool {
	return batch.MatchFailurePolicy(s.job.Spec.PodFailurePolicy, pod).Counted
}

// indexRemaining returns how long an index must wait for the replacement of pod, which failed last in it.
func indexRemaining(s *snapshot, pod *corev1.Pod) time.Duration {
	if pod == nil {
		return 0
	}
	failures := int(indexFailures(pod)) + 1
	if !s.limits.ignoredWait {
		if !s.isCounted(pod) {
			return 0
		}
		counted, _ := batch.IndexFailures(pod)
		failures = int(counted) + 1
	}
	return backoffRecord{failures: failures, last: core.FinishTime(pod)}.remaining(s.now, s.limits)
}

// indexFailures returns how often the index of pod had failed before it, whether that counted or not.
func indexFailures(pod *corev1.Pod) int64 {
	counted, ignored := batch.IndexFailures(pod)
	return int64(counted) + int64(ignored)
}
