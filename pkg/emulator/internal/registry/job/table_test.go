package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

func TestTable(t *testing.T) {
	now := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Now().Add(-d)} }
	with := func(conditions ...batchv1.JobConditionType) (all []batchv1.JobCondition) {
		for _, c := range conditions {
			all = append(all, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue})
		}
		return all
	}
	for name, tc := range map[string]struct {
		spec                        batchv1.JobSpec
		status                      batchv1.JobStatus
		deleted                     bool
		word, completions, duration string
	}{
		"a new Job": {
			spec: batchv1.JobSpec{Completions: new(int32(3))},
			word: "Running", completions: "0/3",
		},
		"a Job that runs": {
			spec:   batchv1.JobSpec{Completions: new(int32(3))},
			status: batchv1.JobStatus{Succeeded: 1, StartTime: ago(90 * time.Second)},
			word:   "Running", completions: "1/3", duration: "90s",
		},
		"a complete Job tells how long it took": {
			spec:   batchv1.JobSpec{Completions: new(int32(1))},
			status: batchv1.JobStatus{Succeeded: 1, StartTime: ago(time.Hour), CompletionTime: ago(30 * time.Minute), Conditions: with(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)},
			word:   "Complete", completions: "1/1", duration: "30m",
		},
		"failed goes before being deleted": {
			status: batchv1.JobStatus{Conditions: with(batchv1.JobFailureTarget, batchv1.JobFailed)}, deleted: true,
			word: "Failed", completions: "0/1",
		},
		"being deleted goes before suspended": {
			status: batchv1.JobStatus{Conditions: with(batchv1.JobSuspended)}, deleted: true,
			word: "Terminating", completions: "0/1",
		},
		"suspended goes before what is to come": {
			status: batchv1.JobStatus{Conditions: with(batchv1.JobFailureTarget, batchv1.JobSuspended)},
			word:   "Suspended", completions: "0/1",
		},
		"a Job about to fail":    {status: batchv1.JobStatus{Conditions: with(batchv1.JobFailureTarget)}, word: "FailureTarget", completions: "0/1"},
		"a Job about to succeed": {status: batchv1.JobStatus{Conditions: with(batchv1.JobSuccessCriteriaMet)}, word: "SuccessCriteriaMet", completions: "0/1"},
		"a condition that is not true": {
			status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}}},
			word:   "Running", completions: "0/1",
		},
		"workers on a queue": {spec: batchv1.JobSpec{Parallelism: new(int32(4))}, word: "Running", completions: "0/1 of 4"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", CreationTimestamp: *ago(2 * time.Hour)}, Spec: tc.spec, Status: tc.status}
			if tc.deleted {
				job.DeletionTimestamp = ago(0)
			}
			table, err := newTable(now).ConvertToTable(t.Context(), job, nil)
			require.NoError(t, err)
			assert.Equal(t, []any{"j", tc.word, tc.completions, tc.duration, "120m", "c", "i", "<none>"}, table.Rows[0].Cells)
		})
	}
}
