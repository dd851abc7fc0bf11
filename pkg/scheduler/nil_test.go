package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/scheduler"
)

func TestNewRefusesGatesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	gates := features.Gates{}.With(features.GenericWorkload, false)
	_, err := scheduler.New(&rest.Config{}, scheduler.Options{Gates: gates})
	require.ErrorContains(t, err, "making scheduler: Options.Gates: Invalid value: ")
	require.ErrorContains(t, err, "GangScheduling needs GenericWorkload")
	var fault *field.Error
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "Options.Gates", fault.Field)
}

func TestWithoutAConfig(t *testing.T) {
	t.Parallel()
	made, err := scheduler.New(nil, scheduler.Options{})
	require.ErrorContains(t, err, "there is no rest.Config")
	assert.Nil(t, made)
	require.ErrorContains(t, made.Run(t.Context()), "not made by New")
	require.ErrorContains(t, (&scheduler.Scheduler{}).Run(t.Context()), "not made by New")
}
