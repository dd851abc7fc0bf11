package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShow(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(t.Context(), nil, &stdout, &stderr), stderr.String())
	assert.Contains(t, stdout.String(), "bert: Scheduled: The driver and the workers have been placed\n")
	assert.Contains(t, stdout.String(), "{Name:worker-1 Failures:1 Succeeded:true}")
	assert.Contains(t, stdout.String(), "bert: Complete: The driver and every worker have succeeded\n")
	assert.Empty(t, stderr.String())
}

func TestFlags(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 2, run(t.Context(), []string{"--what"}, &stdout, &stderr))
	assert.Equal(t, 0, run(t.Context(), []string{"--help"}, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "--lease-namespace")
	assert.Equal(t, 1, run(t.Context(), []string{"--kubeconfig", "/none"}, &stdout, &stderr))
}
