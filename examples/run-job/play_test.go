package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gangJob is a Job whose four pods fill two nodes of four CPUs.
func gangJob(name string) string {
	job := strings.Replace(indexedJob("4", "4", "20"), "name: indexed", "name: "+name, 1)
	return strings.Replace(job, "image: main:v1", "image: main:v1, resources: {requests: {cpu: 2}}", 1)
}

func TestTwoGangsForTheSameRoomRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, gangJob("a")+"---\n"+gangJob("b"), "-f", "-", "--nodes", "2", "--node-cpu", "4", "--pod-duration", "3s")
	require.Equal(t, exitDone, res.code, res.stderr)
	require.Len(t, r.PodGroups, 2)
	first, second := r.PodGroups[0], r.PodGroups[1]
	if first.When[milestoneScheduled] > second.When[milestoneScheduled] {
		first, second = second, first
	}
	job := strings.TrimSuffix(first.Workload, filepath.Ext(first.Workload))
	for _, p := range r.Pods {
		if p.PodGroup == first.Name {
			assert.LessOrEqual(t, p.When[milestoneFinished], second.When[milestoneScheduled], "pod %s of %s ends before the other gang begins", p.Name, job)
		}
	}
	assert.NotContains(t, first.When, milestoneWaiting)
	assert.Contains(t, second.When, milestoneWaiting)
	told := regexp.QuoteMeta("podgroup default/"+second.Name) + `: PodGroupScheduled=False: Unschedulable: .*; room is held by ` + regexp.QuoteMeta("podgroup default/"+first.Name) + ` \(\d pods?\)`
	assert.Regexp(t, told, res.stderr)
	assert.Regexp(t, regexp.QuoteMeta("podgroup default/"+second.Name)+`: PodGroupScheduled: Scheduled, after waiting \d\.\d{3}s`, res.stderr)
	for i := 1; i < len(r.Timeline); i++ {
		assert.LessOrEqual(t, r.Timeline[i-1].At, r.Timeline[i].At)
	}
}

// urgentGang is a pod group that may send pods of lower priority away, and a Job whose pods are in it. The group has the
// priority: one that is made for a Job has none.
const urgentGang = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: high}
spec:
  priorityClassName: urgent
  schedulingPolicy: {gang: {minCount: 4}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: high}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template:
    spec:
      restartPolicy: Never
      priorityClassName: urgent
      schedulingGroup: {podGroupName: high}
      containers: [{name: main, image: main:v1, resources: {requests: {cpu: 2}}}]
`

func TestPreemptionIsTold(t *testing.T) {
	t.Parallel()
	opts, err := parseFlags([]string{"--nodes", "2", "--node-cpu", "4", "--pod-duration", "1h", "--backoff", "1h"}, io.Discard)
	require.NoError(t, err)
	c, err := startCluster(t.Context(), opts, opts.rehearse())
	require.NoError(t, err)
	defer c.Stop()
	clients, err := newClients(c.Config())
	require.NoError(t, err)
	low, err := parseManifest("low", []byte(gangJob("low")))
	require.NoError(t, err)
	high, err := parseManifest("high", []byte(urgentGang))
	require.NoError(t, err)

	ctx, interrupt := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	var later creation
	told := writerFunc(func(text []byte) (int, error) {
		switch {
		case bytes.Contains(text, []byte("podgroup default/high: PodGroupScheduled: Scheduled")):
			interrupt()
		case later.made == nil && bytes.Contains(text, []byte("PodGroupScheduled: Scheduled")):
			later = clients.create(t.Context(), high)
		}
		return stdout.Write(text)
	})
	code := play(ctx, c, low, opts, opts.rehearse(), told, &stderr)
	require.Empty(t, later.wrong)
	require.Equal(t, exitInterrupted, code, "%s\n%s", stdout.String(), stderr.String())
	assert.Contains(t, stderr.String(), "interrupted: Job default/low (0/4 succeeded)")
	for _, want := range []string{
		`podgroup default/high: created: gang of at least 4, priority 1000`,
		`podgroup default/high: PodGroupScheduled=False: Unschedulable: `,
		`pod default/low-\d-\w+: disrupted: PreemptionByScheduler: .*preempting to accommodate a higher priority podgroup`,
		`pod default/low-\d-\w+: Preempted: Preempted by podgroup default/high on`,
		`podgroup default/high: PodGroupScheduled: Scheduled, after waiting`,
	} {
		assert.Regexp(t, want, stdout.String())
	}
}

// What the report says of each object is also the last that the timeline says of it.
func TestReportAndTimelineAgree(t *testing.T) {
	t.Parallel()
	for range 5 {
		r, res := runForReport(t, indexedJob("8", "4", "0"), "-f", "-", "--pod-duration", "0s")
		require.Equal(t, exitDone, res.code, res.stderr)
		last := map[string]string{}
		for _, e := range r.Timeline {
			last[e.Object] = e.What
		}
		require.Len(t, r.Pods, 8)
		for _, p := range r.Pods {
			assert.Equal(t, "Succeeded", p.Phase)
			assert.Equal(t, "Succeeded", last["pod default/"+p.Name])
			assert.Contains(t, p.When, milestoneFinished)
		}
		assert.Contains(t, last["job default/indexed"], "Complete")
	}
}

func TestNoPodWaitsForTheNodesToStart(t *testing.T) {
	t.Parallel()
	r, res := runForReport(t, "", "--pod-duration", "0s", "--nodes", "20")
	require.Equal(t, exitDone, res.code, res.stderr)
	for _, e := range r.Timeline {
		assert.NotContains(t, e.What, "untolerated taint")
		assert.NotContains(t, e.What, "no nodes available")
	}
}

func TestAPodOfItsOwnIsSomethingToRun(t *testing.T) {
	t.Parallel()
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: Never, containers: [{name: main, image: main}]}\n"
	res := runProgram(t, pod, "-f", "-", "--pod-duration", "0s")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.NotContains(t, res.stdout, "Nothing to run")
	assert.Regexp(t, `(?m)^default/p +Succeeded +0 `, res.stdout)

	res = runProgram(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "-f", "-")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Contains(t, res.stdout, "Nothing to run")
}

func TestFailuresThatDoNotCome(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		manifest, fail, want string
	}{
		"an index that there is not": {indexedJob("2", "1", "9"), "5=1", "run-job: warning: --fail 5=1 never fired: the Job has no index 5\n"},
		"no Job at all":              {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "0=1", "--fail 0=1 never fired: there is no Job"},
		"several Jobs without it":    {indexedJob("2", "1", "9") + "---\n" + strings.Replace(indexedJob("2", "1", "9"), "name: indexed", "name: other", 1), "5=1", "no Job has an index 5"},
		"once too often":             {indexedJob("2", "1", "1"), "0=1x5", "--fail 0=1x5 fired only 2 times: the index was not started again"},
		"again in a Job that is not Indexed": {
			strings.Replace(indexedJob("2", "1", "9"), "completionMode: Indexed", "completionMode: NonIndexed", 1), "0=1x2",
			"--fail 0=1x2 fired only once: the Job is not Indexed, so that a replacement has a number of its own",
		},
		"none that is missing": {indexedJob("2", "1", "9"), "1=1", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := runProgram(t, tc.manifest, "-f", "-", "--fail", tc.fail, "--pod-duration", "0s", "--backoff", "10ms")
			if tc.want == "" {
				assert.NotContains(t, res.stderr, "--fail")
			} else {
				assert.Contains(t, res.stderr, tc.want)
			}
		})
	}
}

func TestFoldersAndFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "more"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "JOB.YAML"), []byte(indexedJob("1", "1", "0")), 0o600))
	r, res := runForReport(t, "", "-f", folder, "--pod-duration", "0s")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Len(t, r.Jobs, 1)
	assert.Contains(t, res.stderr, "run-job: warning: "+folder+": folders in a folder are not read: more\n")

	bad := filepath.Join(folder, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("a: ["), 0o600))
	res = runProgram(t, "", "-f", "nothing.yaml", "-f", folder, "-f", "nowhere")
	assert.Equal(t, exitUsage, res.code)
	for _, want := range []string{"run-job: reading manifest: stat nothing.yaml: ", "run-job: " + bad + ": document 1: ", "run-job: reading manifest: stat nowhere: "} {
		assert.Contains(t, res.stderr, want)
	}
	assert.NotContains(t, res.stdout, "created", "nothing is created when one file is wrong")
}

func TestListsOfLists(t *testing.T) {
	t.Parallel()
	list := `{"apiVersion":"v1","kind":"List","items":[
	  {"apiVersion":"batch/v1","kind":"JobList","items":[
	    {"metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"main"}]}}}}]},
	  {"apiVersion":"v1","kind":"List","items":[]},
	  {"apiVersion":"v1","kind":"List"}]}`
	r, res := runForReport(t, list, "-f", "-", "--pod-duration", "0s")
	require.Equal(t, exitDone, res.code, res.stderr)
	require.Len(t, r.Jobs, 1)
	assert.Equal(t, "a", r.Jobs[0].Name)
}

// A namespace that another document needs, or that every cluster has, takes what the manifest says of it.
func TestNamespacesThatAreThere(t *testing.T) {
	t.Parallel()
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: a}}\n---\n"
	res := runProgram(t, namespace+indexedJob("1", "1", "0"), "-f", "-", "--pod-duration", "0s")
	assert.Equal(t, exitDone, res.code, res.stderr)
}

func TestWarningsOfTheServerAreShown(t *testing.T) {
	t.Parallel()
	manifest := strings.NewReplacer("name: indexed", "name: not.indexed", "Mode: Indexed", "Mode: NonIndexed").Replace(indexedJob("1", "1", "0"))
	res := runProgram(t, manifest, "-f", "-", "--pod-duration", "0s")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Contains(t, res.stderr, "run-job: warning: standard input: document 1: Job default/not.indexed: metadata.name: this is used in Pod names and hostnames")
}
