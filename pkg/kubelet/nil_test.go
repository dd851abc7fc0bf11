package kubelet_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/kubelet"
)

func TestWithoutAConfig(t *testing.T) {
	t.Parallel()
	made, err := kubelet.New(nil, kubelet.Options{})
	require.ErrorContains(t, err, "there is no rest.Config")
	assert.Nil(t, made)
	require.ErrorContains(t, made.Run(t.Context()), "not made by New")
	require.ErrorContains(t, (&kubelet.Kubelet{}).Run(t.Context()), "not made by New")
}
