package leader_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
	"github.com/musterkube/muster/pkg/kubelet"
)

func TestMain(m *testing.M) {
	// The second of the default handlers sleeps until a moment of the process's own clock, which a bubble never reaches.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

func startCluster(t *testing.T, script kubelet.Script) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Options{Nodes: 2, Controllers: []string{cluster.ControllerPodGroupProtection}, Script: script})
	require.NoError(t, err)
	t.Cleanup(c.Stop)
	return c
}

// untilDone is a controller that does nothing. It says when it is called and when it returns.
func untilDone(log func(string)) func(context.Context) error {
	return func(ctx context.Context) error {
		log("leads")
		<-ctx.Done()
		// It takes its time to stop.
		clock.RealClock{}.Sleep(time.Second) // the bubble's clock
		log("has stopped")
		return nil
	}
}

func TestSuccessorStartsAfterTheLeaderHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t, nil)
		var mu sync.Mutex
		var log []string
		start := func(identity string) (stop func() error) {
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() {
				result <- leader.Run(ctx, c.Config(), leader.Options{Name: "test", Identity: identity}, untilDone(func(what string) {
					mu.Lock()
					defer mu.Unlock()
					log = append(log, identity+" "+what)
				}))
			}()
			return func() error { cancel(); return <-result }
		}
		stopFirst := start("first")
		synctest.Wait()
		stopSecond := start("second")
		clock.RealClock{}.Sleep(time.Minute) // the bubble's clock
		require.NoError(t, stopFirst())
		clock.RealClock{}.Sleep(10 * time.Second) // the bubble's clock
		require.NoError(t, stopSecond())
		assert.Equal(t, []string{"first leads", "first has stopped", "second leads", "second has stopped"}, log)
	})
}

func TestLostLeadershipEndsTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t, nil)
		line := &wire{}
		result := make(chan error, 1)
		var log []string
		go func() {
			result <- leader.Run(t.Context(), line.config(c.Config()), leader.Options{Name: "test", Identity: "me"}, untilDone(func(what string) { log = append(log, what) }))
		}()
		clock.RealClock{}.Sleep(time.Minute) // the bubble's clock
		line.cut.Store(true)
		require.ErrorIs(t, <-result, leader.ErrLost)
		assert.Equal(t, []string{"leads", "has stopped"}, log)
	})
}

func TestControllerThatEndsGivesTheLeaseUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t, nil)
		broken := errors.New("broken")
		err := leader.Run(t.Context(), c.Config(), leader.Options{Name: "test"}, func(context.Context) error { return broken })
		require.ErrorIs(t, err, broken)
		lease, err := kubernetes.NewForConfigOrDie(c.Config()).CoordinationV1().Leases("kube-system").Get(t.Context(), "test", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Empty(t, *lease.Spec.HolderIdentity)
	})
}

func TestOptions(t *testing.T) {
	err := leader.Run(t.Context(), &rest.Config{}, leader.Options{Name: "a", LeaseDuration: time.Second}, func(context.Context) error { return nil })
	require.ErrorContains(t, err, "leaseDuration must be greater than renewDeadline")
}

// wire is a connection that can be cut: by itself after so many writes, as by a crash of the process, or by hand.
type wire struct {
	cut    atomic.Bool
	writes atomic.Int64
	limit  int64 // 0 for none
}

var errCut = errors.New("the process is dead")

func (w *wire) config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet && w.limit > 0 && w.writes.Add(1) > w.limit {
				w.cut.Store(true)
			}
			if w.cut.Load() {
				return nil, errCut
			}
			return next.RoundTrip(r)
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Replicas of the Job controller take turns: each leader dies after a few writes, in the middle of whatever it does,
// and the next one has to make out what was done. No work may be lost or counted twice.
func TestJobsEndOnceUnderDyingLeaders(t *testing.T) {
	for _, writes := range []int64{3, 5, 8, 13, 21} {
		t.Run(fmt.Sprintf("%d writes each", writes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { dyingLeaders(t, writes) })
		})
	}
}

func dyingLeaders(t *testing.T, writes int64) {
	t.Helper()
	c := startCluster(t, kubelet.FailIndex(1, 1, 1, kubelet.Fixed{Duration: 5 * time.Second}))
	client := kubernetes.NewForConfigOrDie(c.Config())
	jobs := []*batchv1.Job{
		makeJob("gang", func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Parallelism = new(batchv1.IndexedCompletion), new(int32(3))
		}),
		makeJob("indexed", func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Parallelism = new(batchv1.IndexedCompletion), new(int32(2))
		}),
		makeJob("counted", func(s *batchv1.JobSpec) { s.Parallelism = new(int32(2)) }),
	}
	for _, j := range jobs {
		_, err := client.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{})
		require.NoError(t, err)
	}

	// Two replicas stand by at any time; one that has died is replaced.
	ctx, cancel := context.WithCancel(t.Context())
	var replicas sync.WaitGroup
	var deaths atomic.Int64
	for i := range 2 {
		replicas.Go(func() {
			for life := 0; ctx.Err() == nil; life++ {
				cfg := (&wire{limit: writes}).config(c.Config())
				controller, err := job.New(cfg, job.Options{})
				if !assert.NoError(t, err) {
					return
				}
				options := leader.Options{Name: "job-controller", Identity: fmt.Sprintf("replica-%d-%d", i, life)}
				if err := leader.Run(ctx, cfg, options, controller.Run); err != nil {
					deaths.Add(1)
				}
			}
		})
	}
	for _, j := range jobs {
		awaitComplete(t, client, j.Name)
	}
	cancel()
	replicas.Wait()
	assert.Positive(t, deaths.Load(), "nobody died")

	for _, j := range jobs {
		end, err := client.BatchV1().Jobs("default").Get(t.Context(), j.Name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, int32(3), end.Status.Succeeded, j.Name)
		assert.Equal(t, int32(1), end.Status.Failed, j.Name)
	}
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, pods.Items, 3*(3+1), "each index once, and one retry for each Job")
	for _, pod := range pods.Items {
		assert.NotContains(t, pod.Finalizers, batchv1.JobTrackingFinalizer, pod.Name)
	}
}

func makeJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		Completions: new(int32(3)),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "main:v1"}},
		}},
	}}
	change(&j.Spec)
	return j
}

func awaitComplete(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	changes, err := client.BatchV1().Jobs("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	require.NoError(t, err)
	defer changes.Stop()
	for change := range changes.ResultChan() {
		if j, ok := change.Object.(*batchv1.Job); ok {
			require.False(t, batch.HasCondition(j, batchv1.JobFailed), "%s failed", name)
			if batch.HasCondition(j, batchv1.JobComplete) {
				return
			}
		}
	}
	require.FailNow(t, "the watch ended before Job "+name)
}

func TestWithoutAConfigOrAnythingToLead(t *testing.T) {
	options := leader.Options{Name: "lease"}
	lead := func(context.Context) error { return nil }
	require.ErrorContains(t, leader.Run(t.Context(), nil, options, lead), "electing the leader of kube-system/lease: there is no rest.Config")
	require.ErrorContains(t, leader.Run(t.Context(), &rest.Config{}, options, nil), "there is nothing for it to lead")
}
