package leader_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
)

// The server that these are given does not exist: they are refused before it is asked.
func TestALeaseThatNoServerWouldTakeIsRefusedAtOnce(t *testing.T) {
	long := strings.Repeat("a", 254)
	for name, tc := range map[string]struct {
		options leader.Options
		want    []string
		text    string
	}{
		"no name":             {leader.Options{}, []string{"Options.Name"}, "Options.Name: Required value: name the Lease that the replicas share"},
		"a name with a space": {leader.Options{Name: "A b"}, []string{"Options.Name"}, `Options.Name: Invalid value: "A b": a lowercase RFC 1123 subdomain`},
		"a name too long":     {leader.Options{Name: long}, []string{"Options.Name"}, "no more than 253"},
		"a namespace with a dot": {
			leader.Options{Name: "a.b", Namespace: "c.d"}, []string{"Options.Namespace"}, `Options.Namespace: Invalid value: "c.d"`,
		},
		"neither is one": {leader.Options{Name: "-", Namespace: "-"}, []string{"Options.Name", "Options.Namespace"}, "electing a leader: "},
	} {
		t.Run(name, func(t *testing.T) {
			err := leader.Run(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"}, tc.options, func(context.Context) error { return nil })
			require.ErrorContains(t, err, tc.text)
			var first *field.Error
			require.ErrorAs(t, err, &first)
			assert.Equal(t, tc.want[0], first.Field)
			for _, want := range tc.want {
				assert.ErrorContains(t, err, want+": ")
			}
		})
	}
}

func TestANamespaceThatThereIsNotEndsTheElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t, nil)
		began := clock.RealClock{}.Now() // the bubble's clock
		options := leader.Options{Name: "test", Namespace: "nowhere"}
		err := leader.Run(t.Context(), c.Config(), options, func(context.Context) error {
			return errors.New("it leads")
		})
		require.ErrorContains(t, err, "the namespace nowhere does not exist; kubectl create namespace nowhere makes it")
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.Less(t, clock.RealClock{}.Since(began), time.Second, "of the bubble's clock: before it is tried again")

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "nowhere"}}
		_, err = kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, leader.Run(t.Context(), c.Config(), options, func(context.Context) error { return nil }))
	})
}

// As the documentation of ErrLost says: the same controller stands by again, and works when it is elected.
func TestAControllerThatLostItsLeadershipIsRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t, nil)
		line := &wire{}
		cfg := line.config(c.Config())
		controller, err := job.New(cfg, job.Options{Metrics: prometheus.NewRegistry()})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var lost atomic.Int64
		result := make(chan error, 1)
		go func() {
			for {
				err := leader.Run(ctx, cfg, leader.Options{Name: "test", Identity: "me"}, controller.Run)
				if !errors.Is(err, leader.ErrLost) {
					result <- err
					return
				}
				lost.Add(1)
				line.cut.Store(false)
			}
		}()
		clock.RealClock{}.Sleep(time.Minute) // the bubble's clock
		line.cut.Store(true)
		clock.RealClock{}.Sleep(time.Minute) // the bubble's clock
		client := kubernetes.NewForConfigOrDie(c.Config())
		_, err = client.BatchV1().Jobs("default").Create(t.Context(), makeJob("later", func(*batchv1.JobSpec) {}), metav1.CreateOptions{})
		require.NoError(t, err)
		awaitComplete(t, client, "later")
		cancel()
		require.NoError(t, <-result)
		assert.EqualValues(t, 1, lost.Load())
	})
}
