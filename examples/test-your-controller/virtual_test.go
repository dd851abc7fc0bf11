package experiment_test

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	experiment "github.com/musterkube/muster/examples/test-your-controller"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/testing/expect"
)

// start runs a controller beside a cluster until the test ends or the returned function kills it.
func start(t *testing.T, c *clustertest.Cluster) (kill func()) {
	t.Helper()
	controller, err := experiment.New(c.Config())
	require.NoError(t, err)
	lives, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	c.Go(func(ctx context.Context) error {
		defer context.AfterFunc(ctx, kill)()
		if err := controller.Run(lives); lives.Err() == nil {
			return err // it has ended by itself
		}
		return nil
	})
	return kill
}

// TestHowItEnds has pods that fail by a script. Each attempt takes a minute. The waits between them are the Job
// controller's: none after a failure at the moment at which others succeed, and then 10 s, 20 s, and so on.
func TestHowItEnds(t *testing.T) {
	attempt := kubelet.Fixed{Duration: time.Minute}
	for name, tc := range map[string]struct {
		script    kubelet.Script
		want      string
		wantAfter time.Duration
	}{
		"all is well":                       {attempt, "Complete", time.Minute},
		"worker 2 fails once":               {kubelet.FailIndex(2, 1, 1, attempt), "Complete", 2 * time.Minute},
		"worker 2 fails thrice":             {kubelet.FailIndex(2, 1, 3, attempt), "Complete", 4*time.Minute + 30*time.Second},
		"worker 2 fails more than is borne": {kubelet.FailIndex(2, 1, 100, attempt), "Failed", 7*time.Minute + 310*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clustertest.Run(t, cluster.Options{Nodes: 3, Script: tc.script}, func(t *testing.T, c *clustertest.Cluster) {
				start(t, c)
				began := c.Now()
				create(t, c.Kube)
				clustertest.UntilIs(c, 24*time.Hour, c.Kube.CoreV1().ConfigMaps("default"), "lr-sweep", hasResult(tc.want))
				assert.Equal(t, tc.wantAfter, c.Now().Sub(began))
			})
		})
	}
}

// TestRestart kills the controller while the Job runs. The next one finds the Job finished, and then deleted by somebody: an
// experiment that is over is not run again, by it or by a third one that has seen nothing of all that.
func TestRestart(t *testing.T) {
	options := cluster.Options{Nodes: 3, Script: kubelet.Fixed{Duration: time.Hour}}
	clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
		kill := start(t, c)
		create(t, c.Kube)
		jobs := c.Kube.BatchV1().Jobs("default")
		clustertest.UntilIs(c, time.Minute, jobs, "lr-sweep", expect.JobActive(4))
		kill()
		c.UntilFinished("lr-sweep", 2*time.Hour)
		c.Advance(24 * time.Minute)

		kill = start(t, c)
		c.Settle()
		settings, err := c.Kube.CoreV1().ConfigMaps("default").Get(t.Context(), "lr-sweep", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "Complete", settings.Annotations[experiment.Result], "it is noted as soon as a controller runs")

		require.NoError(t, jobs.Delete(t.Context(), "lr-sweep", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
		c.Settle()
		kill()
		start(t, c)
		c.Advance(time.Hour)
		_, err = jobs.Get(t.Context(), "lr-sweep", metav1.GetOptions{})
		assert.Error(t, err, "it is not run again")
		assert.Empty(t, c.PodsOf("lr-sweep"))
	})
}

// TestForgottenHistory cuts the controller off from the server, which meanwhile forgets what the controller has seen last:
// its watches then end with 410, and it has to list anew.
func TestForgottenHistory(t *testing.T) {
	line := &line{agent: "experiments"}
	options := cluster.Options{Nodes: 3, Script: kubelet.Fixed{Duration: time.Hour}, WrapHandler: line.wrap}
	clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
		start(t, c)
		create(t, c.Kube)
		clustertest.UntilIs(c, time.Minute, c.Kube.BatchV1().Jobs("default"), "lr-sweep", expect.JobActive(4))
		mend := line.cut()
		c.UntilFinished("lr-sweep", 2*time.Hour)
		require.NoError(t, c.Server().Compact(t.Context()))
		require.Zero(t, line.expired())
		mend()
		// Informers that were refused for long wait up to a minute before they try again.
		clustertest.UntilIs(c, 5*time.Minute, c.Kube.CoreV1().ConfigMaps("default"), "lr-sweep", hasResult("Complete"))
		assert.NotZero(t, line.expired(), "a watch must have started from what was forgotten")
		assert.Len(t, c.PodsOf("lr-sweep"), 4)
	})
}

// line is the connection of one user agent to the server.
type line struct {
	agent string

	mu sync.Mutex
	// broken is closed while the line is cut; it is another channel afterwards.
	broken chan struct{}
	gone   int
}

// cut ends what is under way, and refuses what comes until mend is called.
func (l *line) cut() (mend func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.broken)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.broken = make(chan struct{})
	}
}

// expired tells how often the answer was 410.
func (l *line) expired() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// wrap is for cluster.Options.WrapHandler.
func (l *line) wrap(server http.Handler) http.Handler {
	// The cluster calls this, in the bubble. A channel that is made outside of it would stop the clock for as long as
	// anybody waits for it.
	l.broken = make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != l.agent {
			server.ServeHTTP(w, r)
			return
		}
		l.mu.Lock()
		broken := l.broken
		l.mu.Unlock()
		select {
		case <-broken:
			// To which informers answer by trying the same watch again; after most other errors they list anew.
			http.Error(w, "cut off", http.StatusTooManyRequests)
			return
		default:
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-broken:
				cancel()
			case <-over:
			}
		}()
		server.ServeHTTP(&noting{streamWriter: w.(streamWriter), line: l}, r.WithContext(ctx)) // what every server has
	})
}

// streamWriter is what a server needs to answer watches.
type streamWriter interface {
	http.ResponseWriter
	http.Flusher
	http.CloseNotifier //nolint:staticcheck // the API server library asks for it still
}

// noting passes an answer on and notes that a watch has ended with 410, which its last event says.
type noting struct {
	streamWriter

	line *line
}

func (n *noting) Write(body []byte) (int, error) {
	if bytes.Contains(body, []byte(metav1.StatusReasonExpired)) { // in JSON as in protobuf
		n.line.mu.Lock()
		n.line.gone++
		n.line.mu.Unlock()
	}
	return n.streamWriter.Write(body)
}
