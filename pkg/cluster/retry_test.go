package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
	"github.com/musterkube/muster/pkg/kubelet"
)

// TestGangOfWhichOneIndexHasSucceededIsTriedAgain lets index 0 of a gang succeed and index 1 fail after it: the pod that
// replaces it is alone, and no quorum by itself. What users do to the objects meanwhile must not matter.
func TestGangOfWhichOneIndexHasSucceededIsTriedAgain(t *testing.T) {
	type world struct {
		*testing.T
		kube  kubernetes.Interface
		gangs versioned.Interface
	}
	workloadsGone := func(w world) {
		require.NoError(w, w.gangs.SchedulingV1alpha2().Workloads(metav1.NamespaceDefault).DeleteCollection(w.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
	groupsGone := func(w world) {
		require.NoError(w, w.gangs.SchedulingV1alpha2().PodGroups(metav1.NamespaceDefault).DeleteCollection(w.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
	tests := map[string]struct {
		// meanwhile is done after index 0 has succeeded and before index 1 fails.
		meanwhile func(w world)
		parity    bool
		completes bool
	}{
		"as it is": {completes: true},
		"though the pod that succeeded is deleted": {completes: true, meanwhile: func(w world) {
			pods, err := w.kube.CoreV1().Pods(metav1.NamespaceDefault).List(w.Context(), metav1.ListOptions{})
			require.NoError(w, err)
			for _, pod := range pods.Items {
				if pod.Status.Phase == corev1.PodSucceeded {
					require.NoError(w, w.kube.CoreV1().Pods(metav1.NamespaceDefault).Delete(w.Context(), pod.Name, metav1.DeleteOptions{}))
				}
			}
		}},
		"though the Workload is deleted": {completes: true, meanwhile: workloadsGone},
		"though the PodGroup is deleted": {completes: true, meanwhile: groupsGone},
		"though both are deleted":        {completes: true, meanwhile: func(w world) { workloadsGone(w); groupsGone(w) }},
		"with parity it never is":        {parity: true},
	}
	for name, tc := range tests {
		for _, replicas := range []int{1, 2} {
			if tc.parity && replicas > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s, with %d controllers", name, replicas), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					script := kubelet.ScriptFunc(func(attempt kubelet.Attempt) kubelet.Outcome {
						switch {
						case attempt.Index == 0:
							return kubelet.Outcome{Duration: 10 * time.Second}
						case attempt.Index == 1 && attempt.Number == 1:
							return kubelet.Outcome{Duration: 30 * time.Second, ExitCode: 1}
						}
						return kubelet.Outcome{Duration: 2 * time.Minute}
					})
					options := cluster.Options{Nodes: 3, Parity: tc.parity, Script: script}
					if replicas > 1 {
						options.Controllers = slices.DeleteFunc(cluster.Controllers(), func(name string) bool { return name == cluster.ControllerJob })
					}
					c := start(t, options)
					kill := func() {}
					if replicas > 1 {
						kill = startReplicas(t, c.Config(), replicas)
					}
					w := world{t, kubernetes.NewForConfigOrDie(c.Config()), versioned.NewForConfigOrDie(c.Config())}
					_, err := w.kube.BatchV1().Jobs(metav1.NamespaceDefault).Create(t.Context(), newGangJob("gang", 3), metav1.CreateOptions{})
					require.NoError(t, err)
					clock.RealClock{}.Sleep(20 * time.Second) // the bubble's clock
					if tc.meanwhile != nil {
						tc.meanwhile(w)
					}
					kill()
					clock.RealClock{}.Sleep(20 * time.Minute) // the bubble's clock
					j, err := w.kube.BatchV1().Jobs(metav1.NamespaceDefault).Get(t.Context(), "gang", metav1.GetOptions{})
					require.NoError(t, err)
					assert.Equal(t, tc.completes, batch.HasCondition(j, batchv1.JobComplete), "%+v", j.Status)
					if tc.completes {
						assert.Equal(t, "0-2", j.Status.CompletedIndexes)
						assert.Equal(t, int32(1), j.Status.Failed)
					}
				})
			})
		}
	}
}

// startReplicas runs Job controllers that elect a leader, and returns what kills the leader: its requests get no answer
// any more, and it gives nothing up.
func startReplicas(t *testing.T, cfg *rest.Config, n int) (kill func()) {
	t.Helper()
	var leading atomic.Pointer[func()]
	for i := range n {
		var dead atomic.Bool
		config := rest.CopyConfig(cfg)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if dead.Load() {
					return nil, errors.New("the process is dead")
				}
				return next.RoundTrip(request)
			})
		})
		controller, err := job.New(config, job.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(quiet(t.Context()))
		var running sync.WaitGroup
		stop := func() { cancel(); running.Wait() }
		t.Cleanup(stop)
		running.Go(func() {
			_ = leader.Run(ctx, config, leader.Options{Name: "job", Identity: fmt.Sprint(i)}, func(ctx context.Context) error {
				leading.Store(new(func() { dead.Store(true); stop() }))
				return controller.Run(ctx)
			})
		})
	}
	return func() { (*leading.Load())() }
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
