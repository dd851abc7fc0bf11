package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/cluster/clustertest"
)

// playInBubble runs the program in virtual time, from the creation of the objects on.
func playInBubble(t *testing.T, manifest string, args ...string) (res result) {
	t.Helper()
	opts, err := parseFlags(args, io.Discard)
	require.NoError(t, err)
	docs, err := parseManifest("test", []byte(manifest))
	require.NoError(t, err)
	rehearsal := opts.rehearse()
	clustertest.Run(t, opts.cluster(rehearsal), func(t *testing.T, c *clustertest.Cluster) {
		var stdout, stderr bytes.Buffer
		code := play(t.Context(), c.Cluster, docs, opts, rehearsal, &stdout, &stderr)
		res = result{code, stdout.String(), stderr.String()}
	})
	return res
}

// assertInOrder says that the text has these parts, one after the other.
func assertInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !assert.True(t, found, "%q is not there, or too early, in\n%s", part, text) {
			return
		}
		rest = after
	}
}

func TestALostNodeIsWatched(t *testing.T) {
	t.Parallel()
	res := playInBubble(t, string(embeddedJob), "--lose", "node-1=3s+17s", "--pod-duration", "30s", "--timeout", "2m")
	require.Equal(t, exitDone, res.code, res.stdout+res.stderr)
	assertInOrder(t, res.stdout,
		"A node is taken for lost once it is silent for 4s (--node-grace; on a real cluster 50s), and pods leave it 3s later",
		"  3.000s          node node-1: lost: its kubelet neither hears nor reports, for 17s\n",
		"node node-1: not Ready (NodeStatusUnknown: Kubelet stopped posting node status.)\n",
		": disrupted: DeletionByTaintManager: Taint manager: deleting due to NoExecute taint\n",
		": being deleted\n",
		"created in pod group training-",
		": Running\n",
		" 20.000s          node node-1: back: its kubelet hears and reports again\n",
		"node node-1: Ready\n",
		"job default/training: Complete: CompletionsReached",
	)
	assert.Regexp(t, `(?m)^default/training +4/4 +[12] `, res.stdout, "the pods of the node count as failed")
	assert.Empty(t, res.stderr)
}

// ignoringJob is a Job of two pods for which the loss of a node is no failure. Its pods are replaced once they have ended,
// which only their node can tell.
const ignoringJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: ignoring}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions: [{type: DisruptionTarget}]
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: main:v1, resources: {requests: {cpu: 4}}}]
`

func TestALossThatIsNoFailure(t *testing.T) {
	t.Parallel()
	lost := "node-1=3s+20s"
	res := playInBubble(t, ignoringJob, "-f", "-", "--nodes", "2", "--lose", lost, "--pod-duration", "1m", "--timeout", "5m")
	require.Equal(t, exitDone, res.code, res.stdout+res.stderr)
	assertInOrder(t, res.stdout, "node node-1: lost", "disrupted: DeletionByTaintManager", "node node-1: back", "pod default/ignoring-", ": created", "Complete")
	assert.Regexp(t, `(?m)^default/ignoring +2/2 +0 `, res.stdout)

	res = playInBubble(t, ignoringJob, "-f", "-", "--nodes", "2", "--lose", "node-1=3s", "--pod-duration", "1m", "--timeout", "3m")
	assert.Equal(t, exitFailed, res.code)
	assert.Regexp(t, `time ran out after 3m0s: Job default/ignoring \(1/2 succeeded\).*being deleted.*node node-1, which the pod is on, is not Ready`, res.stderr)
}

func TestALossThatDoesNotCome(t *testing.T) {
	t.Parallel()
	res := playInBubble(t, indexedJob("1", "1", "0"), "--lose", "node-2=30s")
	assert.Equal(t, exitDone, res.code, res.stderr)
	assert.Equal(t, "run-job: warning: --lose node-2=30s never happened: the run had ended by then; see --pod-duration\n", res.stderr)
	assert.NotContains(t, res.stdout, "node node-2: lost")
}

func TestLossesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want string
	}{
		"no node":              {[]string{"--lose", "=3s"}, `--lose "=3s": want NODE=AFTER[+FOR], such as node-1=3s or node-1=3s+20s`},
		"no time":              {[]string{"--lose", "node-1"}, `--lose "node-1": want NODE=AFTER[+FOR]`},
		"a time that is none":  {[]string{"--lose", "node-1=soon"}, `--lose "node-1=soon": AFTER is "soon": want a duration, such as 3s`},
		"a time in the past":   {[]string{"--lose", "node-1=-3s"}, `AFTER is "-3s"`},
		"back at once":         {[]string{"--lose", "node-1=3s+0s"}, `--lose "node-1=3s+0s": FOR is "0s": want a duration above 0, such as 20s`},
		"a node there is not":  {[]string{"--lose", "node-4=3s"}, `--lose node-4=3s: there is no node "node-4": have node-1 to node-3, see --nodes`},
		"a node of no number":  {[]string{"--lose", "node-01=3s"}, `there is no node "node-01"`},
		"after the end":        {[]string{"--lose", "node-1=2m"}, "--lose node-1=2m: --timeout is 1m0s: want a longer one"},
		"lost while it is":     {[]string{"--lose", "node-1=9s", "--lose", "node-1=3s+6s"}, "--lose node-1=9s: the node is not back by then: see --lose node-1=3s+6s"},
		"lost for good before": {[]string{"--lose", "node-1=3s", "--lose", "node-1=9s"}, "--lose node-1=9s: the node is not back by then: see --lose node-1=3s"},
		"nobody looks":         {[]string{"--lose", "node-1=3s", "--nodes", "1001"}, "--lose: of 1001 nodes none is looked after: want --nodes of at most 1000"},
		"hardly any grace":     {[]string{"--node-grace", "1ms"}, "--node-grace 1ms: want at least 500ms"},
		"half a second":        {[]string{"--toleration", "1500ms"}, "--toleration 1.5s: want whole seconds, 0 or more"},
		"less than nothing":    {[]string{"--toleration", "-1s"}, "--toleration -1s: want whole seconds, 0 or more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseFlags(tc.args, io.Discard)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestTheTimesOfALoss(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args              []string
		grace, toleration time.Duration
	}{
		"no loss: those of the cluster": {nil, 0, -1},
		"a loss":                        {[]string{"--lose", "node-1=1s"}, lossGrace, lossToleration},
		"a loss among many nodes":       {[]string{"--lose", "node-1=1s", "--nodes", "1000"}, 20 * time.Second, lossToleration},
		"as the user wants":             {[]string{"--lose", "node-1=1s", "--node-grace", "50s", "--toleration", "5m"}, 50 * time.Second, 5 * time.Minute},
		"no toleration at all":          {[]string{"--toleration", "0s"}, 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, err := parseFlags(tc.args, io.Discard)
			require.NoError(t, err)
			assert.Equal(t, tc.grace, opts.nodeGrace)
			assert.Equal(t, tc.toleration, opts.toleration)
		})
	}
}
