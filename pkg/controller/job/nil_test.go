package job_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/controller/job"
)

func TestWithoutAConfig(t *testing.T) {
	t.Parallel()
	made, err := job.New(nil, job.Options{})
	require.ErrorContains(t, err, "there is no rest.Config")
	assert.Nil(t, made)
	require.ErrorContains(t, made.Run(t.Context()), "not made by New")
	require.ErrorContains(t, (&job.Controller{}).Run(t.Context()), "not made by New")
}
