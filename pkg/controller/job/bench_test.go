package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator"
)

// BenchmarkJobsToComplete runs Jobs of one pod and of eight from their creation to their end, on an API server in the
// same process and with kubelets that end each pod at once.
func BenchmarkJobsToComplete(b *testing.B) {
	for _, size := range []int32{1, 8} {
		b.Run(fmt.Sprintf("pods=%d", size), func(b *testing.B) {
			server, err := emulator.Start(b.Context(), emulator.Options{})
			require.NoError(b, err)
			defer server.Stop()
			client, err := kubernetes.NewForConfig(server.Config())
			require.NoError(b, err)
			ctx, cancel := context.WithCancel(b.Context())

			var running, finished sync.WaitGroup
			factory := informers.NewSharedInformerFactory(client, 0)
			playKubelets(b, ctx, client, factory, &running)
			onFinish(b, factory, finished.Done)
			factory.StartWithContext(ctx)
			controller, err := job.New(server.Config(), job.Options{SyncDelay: -1})
			require.NoError(b, err)
			running.Go(func() { _ = controller.Run(ctx) })

			finished.Add(b.N)
			b.ResetTimer()
			for i := range b.N {
				j := newJob(fmt.Sprintf("j%d", i), func(spec *batchv1.JobSpec) { spec.Parallelism, spec.Completions = &size, &size })
				_, err := client.BatchV1().Jobs(namespace).Create(ctx, j, metav1.CreateOptions{})
				require.NoError(b, err)
			}
			finished.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(float64(b.N)*float64(size)/b.Elapsed().Seconds(), "pods/s")
			b.StopTimer()
			cancel()
			running.Wait()
			factory.Shutdown()
		})
	}
}

// playKubelets ends each pod when it appears.
func playKubelets(b *testing.B, ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory, running *sync.WaitGroup) { //nolint:revive // b first, as in tests
	b.Helper()
	appeared := make(chan *corev1.Pod, 10000)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok && core.PodActive(pod) {
				appeared <- pod
			}
		},
	})
	require.NoError(b, err)
	for range 4 {
		running.Go(func() {
			for {
				select {
				case pod := <-appeared:
					pod = pod.DeepCopy()
					pod.Status.Phase = corev1.PodSucceeded
					_, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
					if err != nil && ctx.Err() == nil {
						b.Error(err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// onFinish calls done once for each Job that ends.
func onFinish(b *testing.B, factory informers.SharedInformerFactory, done func()) {
	b.Helper()
	_, err := factory.Batch().V1().Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			_, was := batch.Finished(before.(*batchv1.Job))
			if _, is := batch.Finished(after.(*batchv1.Job)); is && !was {
				done()
			}
		},
	})
	require.NoError(b, err)
}
