package ttl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/batch"
)

// epoch is when the Jobs of the tests end. A testing/synctest bubble begins at this time.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// jobWrapper builds Jobs.
type jobWrapper struct{ *batchv1.Job }

func makeJob(name string) jobWrapper {
	return jobWrapper{&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name + "-uid")}}}
}

func (w jobWrapper) ttl(seconds int32) jobWrapper {
	w.Spec.TTLSecondsAfterFinished = &seconds
	return w
}

func (w jobWrapper) condition(kind batchv1.JobConditionType, status corev1.ConditionStatus, at time.Time) jobWrapper {
	w.Status.Conditions = append(w.Status.Conditions, batchv1.JobCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at)})
	return w
}

func (w jobWrapper) finished() jobWrapper {
	return w.condition(batchv1.JobComplete, corev1.ConditionTrue, epoch)
}

func (w jobWrapper) deleting() jobWrapper {
	w.DeletionTimestamp = new(metav1.NewTime(epoch))
	return w
}

func TestExpireTime(t *testing.T) {
	cases := map[string]struct {
		job  jobWrapper
		want time.Time // zero: never
	}{
		"complete": {makeJob("j").ttl(30).finished(), epoch.Add(30 * time.Second)},
		"failed":   {makeJob("j").ttl(30).condition(batchv1.JobFailed, corev1.ConditionTrue, epoch), epoch.Add(30 * time.Second)},
		"no time to live at all once it has ended": {makeJob("j").ttl(0).finished(), epoch},
		"the longest time to live":                 {makeJob("j").ttl(1<<31 - 1).finished(), epoch.Add((1<<31 - 1) * time.Second)},
		"what another controller runs": {func() jobWrapper {
			job := makeJob("j").ttl(30).finished()
			job.Spec.ManagedBy = new("example.com/other")
			return job
		}(), epoch.Add(30 * time.Second)},
		"of two final conditions the first true one counts": {
			makeJob("j").ttl(30).condition(batchv1.JobComplete, corev1.ConditionFalse, epoch.Add(-time.Hour)).
				condition(batchv1.JobFailed, corev1.ConditionTrue, epoch).condition(batchv1.JobComplete, corev1.ConditionTrue, epoch.Add(time.Hour)),
			epoch.Add(30 * time.Second),
		},
		"not ended":             {makeJob("j").ttl(30), time.Time{}},
		"about to end":          {makeJob("j").ttl(30).condition(batchv1.JobFailureTarget, corev1.ConditionTrue, epoch), time.Time{}},
		"ended, but not at all": {makeJob("j").ttl(30).condition(batchv1.JobComplete, corev1.ConditionFalse, epoch), time.Time{}},
		"no time to live given": {makeJob("j").finished(), time.Time{}},
		"being deleted already": {makeJob("j").ttl(30).finished().deleting(), time.Time{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at, expires, err := ExpireTime(tc.job.Job)
			require.NoError(t, err)
			assert.Equal(t, !tc.want.IsZero(), expires)
			assert.True(t, tc.want.Equal(at), "want %s, got %s", tc.want, at)

			trimmed, err := trimJob(tc.job.Job)
			require.NoError(t, err)
			again, expires, err := ExpireTime(trimmed.(*batchv1.Job))
			require.NoError(t, err)
			assert.Equal(t, !tc.want.IsZero(), expires)
			assert.Equal(t, at, again, "the cache must keep what counts")
		})
	}
}

func TestExpireTimeWithoutATransitionTime(t *testing.T) {
	_, expires, err := ExpireTime(makeJob("j").ttl(30).condition(batchv1.JobFailed, corev1.ConditionTrue, time.Time{}).Job)
	require.EqualError(t, err, "reading when the time to live of job ns/j is over: reading the finish time of job ns/j: condition Failed has no transition time")
	require.NotErrorIs(t, err, batch.ErrNotFinished)
	assert.False(t, expires)
}
