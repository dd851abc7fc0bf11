package batch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/pkg/batch"
)

// What returns an error says so when there is no Job; it does not panic.
func TestWithoutAJob(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	for name, errs := range map[string]func() int{
		"validating one":                func() int { return len(batch.Validate(nil, batch.Options{})) },
		"validating an update to none":  func() int { return len(batch.ValidateUpdate(nil, job, batch.Options{})) },
		"validating an update of none":  func() int { return len(batch.ValidateUpdate(job, nil, batch.Options{})) },
		"validating the status of none": func() int { return len(batch.ValidateStatusUpdate(nil, job)) },
		"validating a status after none": func() int {
			return len(batch.ValidateStatusUpdate(job, nil))
		},
	} {
		assert.Equal(t, 1, errs(), name)
	}
	now := time.Time{}
	for name, err := range map[string]error{
		"starting":                   batch.Start(nil, now),
		"suspending":                 batch.Suspend(nil, now),
		"resuming":                   batch.Resume(nil, now),
		"meeting its criteria":       batch.SuccessCriteriaMet(nil, "", "", now),
		"setting its failure target": batch.FailureTarget(nil, "", "", now),
		"completing":                 batch.Complete(nil, now),
		"failing":                    batch.Fail(nil, "", "", now),
	} {
		require.ErrorIs(t, err, batch.ErrIllegalTransition, name)
		require.ErrorContains(t, err, "there is none", name)
	}
	_, err := batch.FinishTime(nil)
	require.ErrorIs(t, err, batch.ErrNotFinished)
}
