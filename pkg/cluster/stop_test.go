package cluster_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

func TestStopLeavesNoGoroutine(t *testing.T) {
	for name, tc := range map[string]struct {
		options cluster.Options
		before  func(t *testing.T, c *cluster.Cluster)
		cancel  bool // ends the context of Start before Stop
	}{
		"at once":              {options: cluster.Options{Nodes: 2}},
		"without a controller": {options: cluster.Options{Controllers: []string{}}},
		"after all has settled": {
			options: cluster.Options{Nodes: 2},
			before:  func(*testing.T, *cluster.Cluster) { pass(time.Minute) },
		},
		"in the middle of a Job": {
			options: cluster.Options{Nodes: 2, Script: kubelet.Fixed{Duration: time.Hour}},
			before:  runGang,
		},
		"when the context has ended before": {
			options: cluster.Options{Nodes: 2, Script: kubelet.Fixed{Duration: time.Hour}},
			before:  runGang,
			cancel:  true,
		},
		"when the context has ended before anything began": {options: cluster.Options{Nodes: 2}, cancel: true},
		"while Jobs wait for their back-off": {
			options: cluster.Options{Nodes: 2, Script: kubelet.Fixed{ExitCode: 1}},
			before:  runGang,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(quiet(t.Context()))
				defer cancel()
				c, err := cluster.Start(ctx, tc.options)
				require.NoError(t, err)
				if tc.before != nil {
					tc.before(t, c)
				}
				if tc.cancel {
					cancel()
				}
				began := now()
				c.Stop()
				assert.Zero(t, now().Sub(began), "there is nothing to wait for")
				requireNoOthers(t)
				require.NoError(t, c.Err(), "a part that is told to end has not failed")
				c.Stop()
			})
		})
	}
}

// runGang brings a gang as far as a minute brings it.
func runGang(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	createJob(t, kube(t, c.Config()), newGangJob("train", 8))
	pass(time.Minute)
	require.Len(t, listPods(t, kube(t, c.Config())), 8)
}

// requireNoOthers demands that nothing but the test runs in its bubble.
func requireNoOthers(t *testing.T) {
	t.Helper()
	synctest.Wait() // those that only have to return do so
	buffer := make([]byte, 4<<20)
	all := string(buffer[:runtime.Stack(buffer, true)])
	own, _, _ := strings.Cut(all, "\n\n") // the caller's is the first
	_, bubble, in := strings.Cut(strings.SplitN(own, "]", 2)[0], "synctest bubble ")
	require.True(t, in, own)
	var others []string
	for stack := range strings.SplitSeq(all, "\n\n") {
		header, _, _ := strings.Cut(stack, "]")
		if stack != own && strings.HasSuffix(header, "synctest bubble "+bubble) && !strings.Contains(stack, "testing/synctest.Test") {
			others = append(others, stack)
		}
	}
	require.Empty(t, others, "goroutines are left:\n%s", strings.Join(others, "\n\n"))
}

func TestTheContextEndsTheParts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(quiet(t.Context()))
		c, err := cluster.Start(ctx, cluster.Options{Nodes: 1})
		require.NoError(t, err)
		defer c.Stop()
		client := kube(t, c.Config())
		pass(time.Second)
		cancel()
		synctest.Wait()
		createJob(t, client, newJob("late", nil))
		pass(time.Hour)
		assert.Empty(t, listPods(t, client), "nobody is there to make them")
		select {
		case <-c.Failed():
			require.Fail(t, "parts that are told to end have not failed", c.Err())
		default:
		}
	})
}

func TestStopMayBeCalledByMany(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(quiet(t.Context()), cluster.Options{Nodes: 1})
	require.NoError(t, err)
	client := kube(t, c.Config())
	createJob(t, client, newJob("j", nil))
	awaitComplete(t, client, "j")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c.Stop()
			_, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
			assert.ErrorIs(t, err, emulator.ErrStopped)
		})
	}
	all.Wait()
}

func TestStartFailsCleanly(t *testing.T) {
	for name, tc := range map[string]struct {
		options   cluster.Options
		cancelled bool
		wantErr   string
	}{
		"with a context that is over": {cancelled: true, wantErr: "starting API server: "},
		"with options that the server refuses": {
			options: cluster.Options{Token: "a b"}, wantErr: "checking cluster options: Options.Token: Invalid value: must not contain white space",
		},
		"with options that the Job controller refuses": {
			options: cluster.Options{Nodes: 1, Job: job.Options{Workers: -1}}, wantErr: "checking cluster options: Options.Job.Workers: Invalid value: -1: must not be negative",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(quiet(t.Context()))
				defer cancel()
				if tc.cancelled {
					cancel()
				}
				c, err := cluster.Start(ctx, tc.options)
				require.ErrorContains(t, err, tc.wantErr)
				assert.Nil(t, c)
				requireNoOthers(t)
			})
		})
	}
}

// A kubelet that cannot register its nodes ends by itself: there is no point in handing out such a cluster.
func TestStartFailsWithANodeThatCannotBe(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, err := cluster.Start(quiet(t.Context()), cluster.Options{Nodes: 1, WrapHandler: func(server http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && r.URL.Path == "/api/v1/nodes" {
					http.Error(w, "no more nodes", http.StatusForbidden)
					return
				}
				server.ServeHTTP(w, r)
			})
		}})
		require.ErrorContains(t, err, "waiting for the nodes to be Ready: running kubelet: starting kubelet: registering node node-1: ")
		require.ErrorContains(t, err, "no more nodes")
		assert.Nil(t, c)
		requireNoOthers(t)
	})
}

func TestStartReturnsWithNodesThatTakePods(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		began := now()
		c := start(t, cluster.Options{Nodes: 20})
		assert.Equal(t, began, now(), "nothing is waited for but what happens")
		nodes, err := kube(t, c.Config()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, nodes.Items, 20)
		for _, node := range nodes.Items {
			assert.Empty(t, node.Spec.Taints, node.Name)
		}
	})
}

// A deferred Stop may come before the error of Start is looked at.
func TestStopOfWhatWasNotStarted(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(t.Context(), cluster.Options{Nodes: -1})
	require.Error(t, err)
	c.Stop()
	(&cluster.Cluster{}).Stop()
	server, err := emulator.Start(t.Context(), emulator.Options{Token: "a b"})
	require.Error(t, err)
	server.Stop()
	(&emulator.Server{}).Stop()
}
