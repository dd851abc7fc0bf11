package nodelifecycle_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/internal/rbactest"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

// TestManifestIsEnoughAndNotMore has the controller, as the ServiceAccount of its manifest, find that the node of a pod is out
// of reach, and evict the pod.
func TestManifestIsEnoughAndNotMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{RBAC: true})
		require.NoError(t, err)
		defer server.Stop()
		rbactest.Apply(t, server, nodelifecycle.RBAC, "")
		account := rbactest.As(t, server, "muster-node-lifecycle")
		controller, err := nodelifecycle.New(account.Config, nodelifecycle.Options{})
		require.NoError(t, err)
		nodes, err := kubelet.New(server.Config(), kubelet.Options{
			Nodes: []kubelet.Node{{Name: "lost"}, {Name: "well"}}, Script: kubelet.Fixed{Duration: 24 * time.Hour},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- controller.Run(ctx) }()
		go func() { ended <- nodes.Run(ctx) }()
		pass(time.Minute)

		kube, err := kubernetes.NewForConfig(server.Config())
		require.NoError(t, err)
		pods := kube.CoreV1().Pods("default")
		_, err = pods.Create(t.Context(), wrappers.MakePod("p", "default").Node("lost").Obj(), metav1.CreateOptions{})
		require.NoError(t, err)
		pass(time.Minute)
		nodes.Lose("lost")
		pass(10 * time.Minute)
		pod, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
		require.NoError(t, err)
		assert.NotNil(t, pod.DeletionTimestamp)
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		assert.Empty(t, account.Refused)
		assert.Equal(t, rbactest.Rights(t, nodelifecycle.RBAC), account.Used())
	})
}

func pass(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	synctest.Wait()
}
