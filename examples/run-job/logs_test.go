package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

const talkingJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: talk}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, command: [sh, -c, 'for i in 1 2 3; do echo "line $i of $JOB_COMPLETION_INDEX"; done']}
`

func TestProcessesRunAndTheirOutputIsShown(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	res := runProgram(t, talkingJob, "-f", "-", "--runtime", "process", "--logs", "2")
	assert.Equal(t, exitDone, res.code, res.stderr)
	for _, index := range []string{"0", "1"} {
		assert.Regexp(t, `(?m)^\[talk-`+index+`-\w+/main\] line 2 of `+index+`\n\[talk-`+index+`-\w+/main\] line 3 of `+index+`$`, res.stdout)
	}
	assert.NotContains(t, res.stdout, "line 1 of")
}

func TestUsageErrorsOfTheRuntime(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"failures of processes": {[]string{"--runtime", "process", "--fail", "0=1"}, "--fail 0=1: with --runtime process containers end as their commands do: want --runtime script, or no --fail"},
		"no such runtime":       {[]string{"--runtime", "docker"}, `--runtime "docker": want script or process`},
		"fewer lines than none": {[]string{"--logs", "-1"}, "--logs -1: want 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			res := runProgram(t, "", tc.args...)
			assert.Equal(t, exitUsage, res.code)
			assert.Contains(t, res.stderr, tc.want)
		})
	}
}
