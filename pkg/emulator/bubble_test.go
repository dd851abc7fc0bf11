package emulator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/musterkube/muster/pkg/emulator"
)

// In a bubble time passes only when everything waits, so that an hour takes as long as what happens in it.
func TestAnHourOfVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(client, 0)
		added := 0
		_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { added++ },
		})
		require.NoError(t, err)
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())

		begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
		_, err = client.CoreV1().Pods("default").Create(ctx, makePod("p"), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 1, added, "when everything waits, the informer has the event")
		assert.Zero(t, time.Since(begin), "and no time has passed") //nolint:forbidigo // as above

		stopped := elect(ctx, client)
		time.Sleep(time.Hour) //nolint:forbidigo // virtual time
		lease, err := client.CoordinationV1().Leases("default").Get(ctx, "leader", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Less(t, time.Since(lease.Spec.RenewTime.Time), 3*time.Second) //nolint:forbidigo // as above
		created, err := client.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, begin.UTC(), created.CreationTimestamp.UTC(), "the server lives in the bubble's time")

		cancel()
		factory.Shutdown()
		<-stopped
	})
}

// elect keeps a lease until ctx ends, and then closes the channel.
func elect(ctx context.Context, client kubernetes.Interface) <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: "default"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			},
			LeaseDuration:   15 * time.Second,
			RenewDeadline:   10 * time.Second,
			RetryPeriod:     2 * time.Second,
			ReleaseOnCancel: true,
			Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
	}()
	return stopped
}

func TestEventsExpireInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kube(t, start(t, emulator.Options{}).Config())
		event := &corev1.Event{ObjectMeta: objectMeta("e"), InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p"}}
		_, err := client.CoreV1().Events("default").Create(t.Context(), event, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(50 * time.Minute) //nolint:forbidigo // virtual time
		_, err = client.CoreV1().Events("default").Get(t.Context(), "e", metav1.GetOptions{})
		require.NoError(t, err)
		time.Sleep(20 * time.Minute) //nolint:forbidigo // virtual time
		_, err = client.CoreV1().Events("default").Get(t.Context(), "e", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

// A watch that nobody reads any more, a request that is cancelled, and one that fails: none may keep the bubble waiting.
func TestStopInTheMiddleOfThings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{})
		require.NoError(t, err)
		client := kube(t, server.Config())
		for range 3 {
			watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer watching.Stop()
		}
		for range 500 {
			_, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "p"}, Spec: makePod("").Spec,
			}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		_, err = client.CoreV1().Pods("default").Patch(t.Context(), "p", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"Pod","nope":1}`),
			metav1.PatchOptions{FieldManager: "m"})
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{}) }()
		cancel()
		begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
		server.Stop()
		assert.Zero(t, time.Since(begin), "there is nothing to wait for") //nolint:forbidigo // as above
	})
}
