package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// result is what one run of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// runProgram runs the program inside the test's process, so that the race detector sees it.
func runProgram(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// runForReport runs the program with JSON output and returns what it reported.
func runForReport(t *testing.T, stdin string, args ...string) (report, result) {
	t.Helper()
	res := runProgram(t, stdin, append(args, "--output", "json")...)
	var r report
	require.NoError(t, json.Unmarshal([]byte(res.stdout), &r), "stdout: %s\nstderr: %s", res.stdout, res.stderr)
	return r, res
}

// UnmarshalJSON lets the tests read what the program writes.
func (o *offset) UnmarshalJSON(text []byte) error {
	seconds, err := strconv.ParseFloat(string(text), 64)
	*o = offset(seconds * float64(time.Second))
	return err
}

func TestEmbeddedGangRunsToComplete(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, "", "--pod-duration", "20ms")
	require.Equal(t, exitDone, res.code, res.stderr)
	require.Len(t, r.Jobs, 1)
	assert.Equal(t, "4/4", r.Jobs[0].Progress)
	require.Len(t, r.Workloads, 1)
	require.Len(t, r.PodGroups, 1)
	require.Len(t, r.Pods, 4)
	for _, p := range r.Pods {
		assert.Equal(t, r.PodGroups[0].Name, p.PodGroup, p.Name)
		assert.Equal(t, "Succeeded", p.Phase, p.Name)
		assert.Equal(t, int32(0), *p.ExitCode, p.Name)
	}
}

func TestTextOutputNamesWhatWasMade(t *testing.T) {
	t.Parallel()
	res := runProgram(t, "", "--pod-duration", "20ms")
	require.Equal(t, exitDone, res.code, res.stderr)
	for _, want := range []string{
		`workload default/training-\w+: created: training-pgt-0: gang of at least 4`,
		`podgroup default/training-\w+-training-pgt-0-\w+: created: gang of at least 4`,
		`podgroup \S+: PodGroupScheduled: Scheduled`,
		`pod default/training-3-\w+: created in pod group training-`,
		`pod default/training-3-\w+: bound to node node-\d`,
		`\[4/4\]\s+job default/training: Complete: CompletionsReached`,
		`(?m)^JOB +SUCCEEDED +FAILED +CREATED +FINISHED$`,
		`(?m)^WORKLOAD +TEMPLATES +CREATED$`,
		`(?m)^PODGROUP +POLICY +WORKLOAD +CREATED +SCHEDULED$`,
		`(?m)^default/training-0-\w+ +Succeeded +0 +node-\d( +\d+\.\d{3}s){4} +training-`,
	} {
		assert.Regexp(t, regexp.MustCompile(want), res.stdout)
	}
}

func TestManifests(t *testing.T) {
	cases := map[string]struct {
		file          string
		wantPods      int
		wantGroups    int
		wantWorkloads int
		wantStderr    string
	}{
		"one pod":              {file: "pi.yaml", wantPods: 1},
		"two at a time":        {file: "batch-processor.yaml", wantPods: 5},
		"a gang":               {file: "training-job.yaml", wantPods: 4, wantGroups: 1, wantWorkloads: 1},
		"a Workload by itself": {file: "training-job-workload.yaml", wantWorkloads: 1, wantStderr: `spec.podGroupTemplates[0].priorityClassName: there is no PriorityClass "high-priority"`},
		"all of a folder":      {file: ".", wantPods: 10, wantGroups: 1, wantWorkloads: 2, wantStderr: "high-priority"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, res := runForReport(t, "", "-f", filepath.Join("testdata", tc.file), "--pod-duration", "20ms")
			require.Equal(t, exitDone, res.code, res.stderr)
			assert.True(t, r.Done)
			assert.Len(t, r.Pods, tc.wantPods)
			assert.Len(t, r.PodGroups, tc.wantGroups)
			assert.Len(t, r.Workloads, tc.wantWorkloads)
			assert.Contains(t, res.stderr, tc.wantStderr)
		})
	}
}

func TestParallelismIsAnUpperBound(t *testing.T) {
	t.Parallel()
	res := runProgram(t, "", "-f", "testdata/batch-processor.yaml", "--pod-duration", "20ms")
	require.Equal(t, exitDone, res.code, res.stderr)
	active := regexp.MustCompile(`job default/batch-processor: (\d+) active`).FindAllStringSubmatch(res.stdout, -1)
	require.NotEmpty(t, active)
	for _, match := range active {
		assert.Contains(t, []string{"0", "1", "2"}, match[1])
	}
}

func indexedJob(completions, parallelism, backoffLimit string) string {
	return `
apiVersion: batch/v1
kind: Job
metadata: {name: indexed}
spec:
  completionMode: Indexed
  completions: ` + completions + `
  parallelism: ` + parallelism + `
  backoffLimit: ` + backoffLimit + `
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: main:v1}]
`
}

func TestFailedIndexIsRetried(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, indexedJob("3", "2", "6"), "-f", "-", "--fail", "1=1x2", "--pod-duration", "20ms", "--backoff", "100ms")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Equal(t, "3/3", r.Jobs[0].Progress)
	assert.Equal(t, int32(2), r.Jobs[0].Failed)
	assert.Len(t, podsOfIndex(r, "1"), 3)
	assert.Len(t, podsOfIndex(r, "0"), 1)
	assert.Empty(t, r.Workloads, "parallelism differs from completions: no gang")
}

func TestBackoffLimitFailsTheJob(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, indexedJob("3", "2", "1"), "-f", "-", "--fail", "1=1x2", "--pod-duration", "20ms", "--backoff", "100ms")
	require.Equal(t, exitFailed, res.code, res.stderr)
	assert.False(t, r.Done)
	assert.Contains(t, r.Reason, "Job default/indexed failed: BackoffLimitExceeded: Job has reached the specified backoff limit")
	assert.Contains(t, res.stderr, "BackoffLimitExceeded")
}

// A gang of which one pod has succeeded is smaller than its minCount when another must be retried.
func TestGangRetriesAfterAMemberHasSucceeded(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, indexedJob("3", "3", "6"), "-f", "-", "--fail", "1=7", "--pod-duration", "20ms", "--backoff", "200ms", "--timeout", "20s")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Equal(t, "3/3", r.Jobs[0].Progress)
	require.Len(t, r.PodGroups, 1)
	retried := podsOfIndex(r, "1")
	require.Len(t, retried, 2)
	for _, p := range retried {
		assert.Equal(t, r.PodGroups[0].Name, p.PodGroup)
	}
}

func podsOfIndex(r report, index string) []podReport {
	var pods []podReport
	for _, p := range r.Pods {
		if strings.HasPrefix(p.Name, r.Jobs[0].Name+"-"+index+"-") {
			pods = append(pods, p)
		}
	}
	return pods
}

func TestGangThatDoesNotFitNeverStartsAPart(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, "", "--nodes", "3", "--node-cpu", "1", "--pod-duration", "20ms", "--timeout", "2s")
	require.Equal(t, exitFailed, res.code)
	require.Len(t, r.Pods, 4)
	for _, p := range r.Pods {
		assert.Equal(t, "Pending", p.Phase)
		assert.Empty(t, p.Node)
	}
	for _, e := range r.Timeline {
		assert.NotContains(t, e.What, "bound to node")
	}
	assert.Contains(t, r.Reason, "time ran out after 2s: Job default/training (0/4 succeeded)")
	assert.Contains(t, r.Reason, "waits until 4 pods fit at once (4 exist, 0 placed)")
	assert.Regexp(t, `pending: .*training-\d-\w+.*Insufficient cpu`, r.Reason)
	assert.Contains(t, res.stderr, r.Reason)
}

func TestJobThatIsDeletedOnceItIsComplete(t *testing.T) {
	t.Parallel()
	manifest := strings.Replace(indexedJob("1", "1", "0"), "spec:\n", "spec:\n  ttlSecondsAfterFinished: 0\n", 1)
	r, res := runForReport(t, manifest, "-f", "-", "--pod-duration", "20ms")
	require.Equal(t, exitDone, res.code, res.stderr)
	require.Len(t, r.Jobs, 1)
	assert.Equal(t, "1/1", r.Jobs[0].Progress)
}

func TestWhyAJobDoesNotRun(t *testing.T) {
	suspended := strings.Replace(indexedJob("1", "1", "0"), "spec:\n", "spec:\n  suspend: true\n", 1)
	others := strings.Replace(indexedJob("1", "1", "0"), "spec:\n", "spec:\n  managedBy: example.com/mine\n", 1)
	cases := map[string]struct{ manifest, want string }{
		"suspended":                    {suspended, "is suspended: spec.suspend is true"},
		"no pods wanted":               {strings.Replace(indexedJob("1", "1", "0"), "parallelism: 1", "parallelism: 0", 1), "spec.parallelism is 0"},
		"another controller's":         {others, `waits for the controller that spec.managedBy names, "example.com/mine"`},
		"pod that needs a bigger node": {strings.Replace(indexedJob("1", "1", "0"), "image: main:v1", "image: main:v1, resources: {requests: {cpu: 64}}", 1), "Insufficient cpu"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := runProgram(t, tc.manifest, "-f", "-", "--timeout", "1s")
			assert.Equal(t, exitFailed, res.code)
			assert.Contains(t, res.stderr, tc.want)
		})
	}
}

func TestBadManifests(t *testing.T) {
	job := indexedJob("1", "1", "0")
	cases := map[string]struct {
		manifest string
		want     []string
	}{
		"no YAML": {"a: [", []string{"standard input: document 1: "}},
		"a duplicate key": {
			"kind: Job\nkind: Job\n", []string{"standard input: document 1: ", `key "kind" already set`},
		},
		"a list":        {"- a\n", []string{"document 1: want an object"}},
		"no kind":       {"apiVersion: batch/v1\n", []string{"document 1: kind: required"}},
		"no apiVersion": {"kind: Job\n", []string{"document 1: apiVersion: required"}},
		"an unknown kind": {
			"apiVersion: example.com/v1\nkind: Dog\nmetadata: {name: a}\n", []string{"document 1: kind: Dog of example.com/v1 is not served"},
		},
		"an unknown field": {
			strings.Replace(job, "backoffLimit", "backofLimit", 1), []string{"document 1: Job default/indexed: ", `unknown field "spec.backofLimit"`},
		},
		"a wrong type": {
			strings.Replace(job, "parallelism: 1", "parallelism: many", 1), []string{"document 1: Job default/indexed: ", "parallelism"},
		},
		"a wrong value in the second document": {
			strings.Replace(job, "name: indexed", "name: other", 1) + "---\n" + strings.Replace(job, "Never", "Always", 1),
			[]string{"document 2: Job default/indexed: spec.template.spec.restartPolicy: ", `"OnFailure", "Never"`},
		},
		"two faults in one list": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A"}},{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"B"}}]}`,
			[]string{"document 1: item 1: ConfigMap default/A: metadata.name: ", "document 1: item 2: ConfigMap default/B: metadata.name: "},
		},
		"the same object twice":          {job + "---\n" + job, []string{"document 2: Job default/indexed: ", "already exists"}},
		"a stream that breaks off":       {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}} {"apiVersion":`, []string{"standard input: document 1: "}},
		"a document after an end marker": {job + "...\n" + strings.Replace(job, "name: indexed", "name: other", 1), []string{"standard input: document 1: yaml: "}},
		"documents parted in an old way": {strings.ReplaceAll(job+"---\n"+job, "\n", "\r"), []string{"document 1: more follows"}},
		"items that make no list":        {strings.Replace(job, "spec:\n", "items: []\nspec:\n", 1), []string{`unknown field "items"`}},
		"nothing":                        {"# only a comment\n", []string{"run-job: standard input: no objects in it"}},
		"no text":                        {"", []string{"run-job: standard input: no objects in it"}},
		"a kind that is no text":         {"apiVersion: batch/v1\nkind: 5\n", []string{"run-job: standard input: document 1: kind: want a string such as Job, got a number"}},
		"an apiVersion that is no text":  {"apiVersion: [batch/v1]\nkind: Job\n", []string{"document 1: apiVersion: want a string such as batch/v1, got a list"}},
		"an apiVersion that is none":     {"apiVersion: a/b/c\nkind: Job\n", []string{"document 1: apiVersion: unexpected GroupVersion string: a/b/c"}},
		"metadata that is text":          {"apiVersion: v1\nkind: ConfigMap\nmetadata: a\n", []string{"document 1: metadata: want an object, got a string"}},
		"a namespace that is no text":    {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 5}\n", []string{"document 1: metadata.namespace: want a string, got a number"}},
		"a namespace that cannot be": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: A_B}\n",
			[]string{`run-job: standard input: document 1: ConfigMap A_B/a: metadata.namespace: making namespace "A_B": `},
		},
		"a Namespace that cannot be": {
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: A_B}\n", []string{"run-job: standard input: document 1: Namespace A_B: metadata.name: "},
		},
		"a Namespace with an unknown field": {
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nspek: {}\n", []string{"run-job: standard input: document 1: Namespace a: ", "spek"},
		},
		"a Namespace without a name": {"apiVersion: v1\nkind: Namespace\n", []string{"run-job: standard input: document 1: Namespace : "}},
		"items that are none":        {"apiVersion: v1\nkind: List\nitems: 5\n", []string{"document 1: items: want a list of objects"}},
		"an item that is none":       {"apiVersion: v1\nkind: List\nitems: [5]\n", []string{"document 1: item 1: want an object with apiVersion, kind and metadata, got a number"}},
		"a fault deep in lists": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1"}]}]}`,
			[]string{"document 1: item 1: item 1: kind: required"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := runProgram(t, tc.manifest, "-f", "-", "--timeout", "5s")
			assert.Equal(t, exitUsage, res.code, res.stdout)
			for _, want := range tc.want {
				assert.Contains(t, res.stderr, want)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	empty, deep := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(deep, "more"), 0o700))
	cases := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":          {[]string{"--node"}, "unknown flag: --node"},
		"an argument":              {[]string{"job.yaml"}, `unexpected argument "job.yaml"`},
		"no nodes":                 {[]string{"--nodes", "0"}, "--nodes 0: want 1 to 100000"},
		"no CPUs":                  {[]string{"--node-cpu", "0"}, "--node-cpu"},
		"CPUs that are none":       {[]string{"--node-cpu", "many"}, `--node-cpu "many"`},
		"negative duration":        {[]string{"--pod-duration", "-1s"}, "--pod-duration"},
		"no time":                  {[]string{"--timeout", "0s"}, "--timeout"},
		"an unknown progress":      {[]string{"--progress", "yes"}, `--progress "yes": want auto, always or never`},
		"an unknown output":        {[]string{"--output", "xml"}, `--output "xml"`},
		"a failure without a code": {[]string{"--fail", "1"}, `--fail: failure "1": want INDEX=EXITCODE`},
		"a failure that is none":   {[]string{"--fail", "1=0"}, "exit code from 1 to 255"},
		"two failures of an index": {[]string{"--fail", "1=1", "--fail", "1=2x3"}, "--fail 1=2x3: there is --fail 1=1 for the same index"},
		"standard input twice":     {[]string{"-f", "-", "-f", "-"}, "standard input: is named twice"},
		"a failure of no times":    {[]string{"--fail", "1=1x0"}, `failure "1=1x0"`},
		"a missing file":           {[]string{"-f", "no-such-file.yaml"}, "no-such-file.yaml"},
		"an empty folder":          {[]string{"-f", empty}, "no .yaml, .yml or .json file in this folder"},
		"a folder of folders":      {[]string{"-f", deep}, "run-job: " + deep + ": no .yaml, .yml or .json file in this folder: folders in a folder are not read: more\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := runProgram(t, "", tc.args...)
			assert.Equal(t, exitUsage, res.code)
			assert.Contains(t, res.stderr, tc.want)
		})
	}
}

// Help and errors have one word for how often an index fails.
func TestHelpAndErrorsOfFailuresAgree(t *testing.T) {
	help := runProgram(t, "", "--help")
	assert.Equal(t, exitDone, help.code)
	assert.Contains(t, help.stdout, "INDEX=EXITCODE[xATTEMPTS]")
	assert.Contains(t, help.stdout, "must end in .svg")
	assert.Contains(t, runProgram(t, "", "--fail", "zz").stderr, "INDEX=EXITCODExATTEMPTS")
}

func TestYAMLOutput(t *testing.T) {
	t.Parallel()
	res := runProgram(t, "", "--pod-duration", "0s", "-o", "yaml")
	require.Equal(t, exitDone, res.code, res.stderr)
	var r struct {
		Done bool
		Jobs []struct{ Name string }
	}
	require.NoError(t, yaml.Unmarshal([]byte(res.stdout), &r))
	assert.True(t, r.Done)
	assert.Equal(t, "training", r.Jobs[0].Name)
}

// The other tests call run; this one makes sure that main hands its result to the process.
func TestProgramExitCodes(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "run-job")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	cases := map[string]struct {
		args []string
		want int
	}{
		"done":  {[]string{"--pod-duration", "0s"}, exitDone},
		"help":  {[]string{"--help"}, exitDone},
		"late":  {[]string{"--node-cpu", "100m", "--timeout", "500ms"}, exitFailed},
		"wrong": {[]string{"--nope"}, exitUsage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program, tc.args...)
			cmd.Stderr = os.Stderr
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil {
				require.ErrorAs(t, err, &exit)
			}
			assert.Equal(t, tc.want, cmd.ProcessState.ExitCode())
		})
	}
}
