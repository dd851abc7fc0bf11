package cluster_test

import (
	"context"
	"flag"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/cluster"
)

func TestMain(m *testing.M) {
	// The second of the default handlers sleeps until a moment of the process's own clock. In a bubble, whose clock
	// starts in 2000, that is decades away.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}) // cannot fail: the set panics on errors
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// patience bounds each wait in real time. No test comes near it unless it fails.
const patience = 2 * time.Minute

// today is when the tests in virtual time begin. A bubble's clock starts in 2000, before the times that the recordings'
// kubelet reports; a pod that ended in the future is not what was recorded.
var today = time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)

// inBubble runs a test in virtual time: hours pass as soon as everything waits for them. The test fails if a goroutine
// is left at its end.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pass(today.Sub(now()))
		test(t)
	})
}

// pass lets time pass, and what it brings about happen.
func pass(d time.Duration) {
	<-clock.RealClock{}.After(d)
	synctest.Wait()
}

func now() time.Time { return clock.RealClock{}.Now() }

// quiet is a context whose parts have nothing to say.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

// start returns a cluster that is stopped with the test, and must have had no failure by then.
func start(tb testing.TB, options cluster.Options) *cluster.Cluster {
	tb.Helper()
	c, err := cluster.Start(quiet(tb.Context()), options)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		c.Stop()
		require.NoError(tb, c.Err())
	})
	return c
}

// kube and muster return clients of Kubernetes' own APIs and of ours.
func kube(tb testing.TB, config *rest.Config) kubernetes.Interface {
	tb.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(tb, err)
	return client
}

func muster(tb testing.TB, config *rest.Config) versioned.Interface {
	tb.Helper()
	client, err := versioned.NewForConfig(config)
	require.NoError(tb, err)
	return client
}
