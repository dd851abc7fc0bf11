package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func checkOutput(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{
		`(?m)^plain +- +muster-job-controller +2 +Complete$`,
		`(?m)^built-in-by-name +kubernetes.io/job-controller +muster-job-controller +2 +Complete$`,
		`(?m)^delegated +example.com/external-controller +external-controller +2 +Complete$`,
		`(?m)^of-somebody-else +example.com/somebody-else +- +0 +untouched: ManagedByOther: Job is left to the controller example.com/somebody-else`,
	} {
		assert.Regexp(t, want, out)
	}
}

func TestEachControllerRunsItsOwnJobs(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, show(t.Context(), &out))
	checkOutput(t, out.String())
}

func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "external-controller")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, string(out))
	checkOutput(t, string(out))
}
