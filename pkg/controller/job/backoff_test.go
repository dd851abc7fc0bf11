package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestBackoffRecordFollowsThePods(t *testing.T) {
	before := backoffRecord{failures: 2, last: at(-100)}
	pods := func(wrappers ...podWrapper) []*corev1.Pod { return takeSnapshot(makeJob(), wrappers...).pods }
	tests := map[string]struct {
		succeeded, failed []*corev1.Pod
		want              backoffRecord
	}{
		"without news it stays":                      {want: before},
		"failures add up":                            {failed: pods(makePod("a").failed(1, at(-3)), makePod("b").failed(1, at(-9))), want: backoffRecord{4, at(-3)}},
		"a success clears it":                        {succeeded: pods(makePod("a").succeeded(at(-3))), want: backoffRecord{}},
		"only failures after the last success count": {succeeded: pods(makePod("a").succeeded(at(-9)), makePod("b").succeeded(at(-5))), failed: pods(makePod("c").failed(1, at(-7)), makePod("d").failed(1, at(-5)), makePod("e").failed(1, at(-3))), want: backoffRecord{1, at(-3)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, before.after(tc.succeeded, tc.failed))
		})
	}
}

func TestBackoffDoublesUpToItsBound(t *testing.T) {
	l := limits{podBackoff: 10 * time.Second, maxPodBackoff: 10 * time.Minute}
	for failures, want := range []time.Duration{0, 10, 20, 40, 80, 160, 320, 600, 600} {
		got := backoffRecord{failures: failures, last: epoch}.remaining(epoch, l)
		assert.Equal(t, want*time.Second, got, "after %d failures", failures)
	}
	assert.Equal(t, 600*time.Second, backoffRecord{failures: 1 << 30, last: epoch}.remaining(epoch, l), "no overflow")
	assert.Equal(t, 3*time.Second, backoffRecord{failures: 1, last: at(-7)}.remaining(epoch, l), "time passes")
	assert.Zero(t, backoffRecord{failures: 1, last: at(-11)}.remaining(epoch, l), "and is over")
}

func TestIndexBackoffCountsIgnoredFailuresUnlessToldOtherwise(t *testing.T) {
	job := makeJob().size(2, 2).perIndex(6).onExit(3, batchv1.PodFailurePolicyActionIgnore)
	for option, want := range map[IgnoredFailures][3]time.Duration{
		"":                       {10 * time.Second, 40 * time.Second, 80 * time.Second},
		IgnoredFailuresNoBackoff: {10 * time.Second, 20 * time.Second, 0},
	} {
		s := takeSnapshot(job)
		s.limits = Options{IgnoredFailures: option}.withDefaults().limits()
		assert.Zero(t, indexRemaining(s, nil))
		assert.Equal(t, want, [3]time.Duration{
			indexRemaining(s, makePod("a").failures(0, 0).failed(1, epoch).Pod),
			indexRemaining(s, makePod("a").failures(1, 1).failed(1, epoch).Pod),
			indexRemaining(s, makePod("a").failures(1, 2).failed(3, epoch).Pod),
		}, "option %q", option)
	}
}

func TestIgnoredFailuresWaitUnlessToldOtherwise(t *testing.T) {
	job := makeJob().size(3, 3).started(3).onExit(3, batchv1.PodFailurePolicyActionIgnore)
	for option, want := range map[IgnoredFailures]podPlan{
		"":                       {wait: 20 * time.Second, action: actionPodsCreated},
		IgnoredFailuresNoBackoff: {wait: 10 * time.Second, action: actionPodsCreated},
	} {
		s := takeSnapshot(job, makePod("a").failed(3, epoch), makePod("b").failed(1, epoch), makePod("c").running())
		s.limits = Options{IgnoredFailures: option}.withDefaults().limits()
		assert.Equal(t, want, decide(s).pods, "option %q", option)
	}
}
