package clustertest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

// Run runs a test on a cluster in virtual time. The t and the c that the test gets are those of the bubble, and are not
// to be used after it. The cluster, and what was given to [Cluster.Go], ends after the test's own cleanup functions.
//
// Unless the options say otherwise, the Job controller gathers the events of an instant and no longer, so that times are
// exact; see SyncDelay of job.Options. With Parity it gathers them for a second, as kube-controller-manager does.
//
// A test may last for 100 days of virtual time. One that lasts longer is stopped, because it most likely waits for something
// that never comes.
//
// A process that imports this package does not slow down those who report errors through
// k8s.io/apimachinery/pkg/util/runtime: that is by the wall clock, from which a bubble's is decades away.
func Run(t *testing.T, options cluster.Options, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	recorder := emulatortest.NewRecorder(lookAgent)
	defer reportDeadlock(t, recorder)
	synctest.Test(t, func(t *testing.T) {
		c := start(t, options, recorder, true)
		c.run(c.watchHorizon)
		c.Settle() // the nodes are ready
		test(t, c)
	})
}

// RunOnRealClock runs a test as [Run] does, but in real time: an hour takes an hour, and [Cluster.Settle] goes by how long
// nothing has been written.
func RunOnRealClock(t *testing.T, options cluster.Options, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	// A test of its own, as in a bubble, so that the cluster ends with it and not with the caller's.
	t.Run("on a real clock", func(t *testing.T) {
		c := Start(t, options)
		c.Settle() // as in a bubble
		test(t, c)
	})
}

// Start starts a cluster in real time that ends with the test, after the test's own cleanup functions, and before that what
// was given to [Cluster.Go]. It is for tests that need sockets or other processes; with [Run] nothing has to be waited for.
func Start(tb testing.TB, options cluster.Options) *Cluster {
	tb.Helper()
	return start(tb, options, emulatortest.NewRecorder(lookAgent), false)
}

// Takes away the handler of errors that sleeps until a moment of the process's clock, which a bubble never reaches. Error
// handlers are a variable of the library's that is read without a lock: only before the first test can it be changed, as
// what one test leaves running may report an error during the next.
func init() {
	if len(utilruntime.ErrorHandlers) == 2 { // nobody has changed them: the second is the one
		utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	}
}

// reportDeadlock is to be deferred round a bubble. It turns the panic over goroutines that wait for ever into a failure of
// the test that names them, so that the process's other tests go on.
func reportDeadlock(t *testing.T, recorder *emulatortest.Recorder) {
	t.Helper()
	cause := recover()
	if cause == nil {
		return
	}
	err, ok := cause.(error)
	if !ok || !strings.HasPrefix(err.Error(), "deadlock: ") {
		panic(cause)
	}
	explanation := "the test waits for something that will never happen"
	if strings.Contains(err.Error(), "main bubble goroutine has exited") {
		explanation = "goroutines are left after the end of the test"
	}
	t.Errorf("%s (%v). In bubbles there are:\n\n%s", explanation, err, bubbled(stacks()))
	recorder.Report(t) // unless the test has come to its end, and done it there
}

// stacks returns what all goroutines are doing.
func stacks() string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}

// mostStacks bounds how many goroutines a message shows.
const mostStacks = 8

// bubbled returns those parts of a dump of all goroutines that are about goroutines in bubbles.
func bubbled(dump string) string {
	var found []string
	for stack := range strings.SplitSeq(dump, "\n\n") {
		header, _, _ := strings.Cut(stack, "\n")
		if strings.Contains(header, "synctest bubble") && !strings.Contains(header, "[synctest.Run") {
			found = append(found, strings.TrimSpace(stack))
		}
	}
	if more := len(found) - mostStacks; more > 0 {
		found = append(found[:mostStacks], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(found, "\n\n")
}

// horizon is how long a test may last in virtual time. One that waits for a channel in vain would otherwise go on until
// go test ends the process, because the cluster's timers never run out.
const horizon = 100 * 24 * time.Hour
