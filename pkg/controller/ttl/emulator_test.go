package ttl_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/controller/ttl"
	"github.com/musterkube/muster/pkg/emulator"
)

// TestOnAnAPIServer plays the end of a Job that lives an hour longer than its pods.
func TestOnAnAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{})
		require.NoError(t, err)
		t.Cleanup(server.Stop)
		kube, err := kubernetes.NewForConfig(server.Config())
		require.NoError(t, err)
		jobs := kube.BatchV1().Jobs("default")

		controller, err := ttl.New(server.Config(), ttl.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- controller.Run(ctx) }()

		job := createJob(t, jobs)
		job.Status = completed(clock.RealClock{}.Now())
		job, err = jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
		require.NoError(t, err)

		after := func(d time.Duration) {
			<-clock.RealClock{}.After(d)
			synctest.Wait()
		}
		at, expires, err := ttl.ExpireTime(job)
		require.NoError(t, err)
		require.True(t, expires)
		after(at.Sub(clock.RealClock{}.Now()) - time.Second)
		job, err = jobs.Get(t.Context(), "j", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Nil(t, job.DeletionTimestamp)

		after(time.Second)
		job, err = jobs.Get(t.Context(), "j", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) { // a garbage collector may have been quick
			require.NoError(t, err)
			assert.NotNil(t, job.DeletionTimestamp)
			assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, job.Finalizers)
		}
		cancel()
		require.NoError(t, <-ended)
	})
}

// completed returns the status of a Job of one pod that was complete at once.
func completed(at time.Time) batchv1.JobStatus {
	now := metav1.NewTime(at)
	status := batchv1.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		status.Conditions = append(status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonCompletionsReached, LastProbeTime: now, LastTransitionTime: now,
		})
	}
	return status
}

// createJob makes a Job that lives an hour longer than its pods.
func createJob(t *testing.T, jobs batchclient.JobInterface) *batchv1.Job {
	t.Helper()
	job, err := jobs.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j"},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: new(int32(3600)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
			}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return job
}

func TestRunWaitsForItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{})
		require.NoError(t, err)
		t.Cleanup(server.Stop)
		config := server.Config()
		kube, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		jobs := kube.BatchV1().Jobs("default")
		job := createJob(t, jobs)
		job.Status = completed(job.CreationTimestamp.Time)
		_, err = jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
		require.NoError(t, err)
		<-clock.RealClock{}.After(2 * time.Hour)

		release := make(chan struct{})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return holding{next, http.MethodDelete, release} })
		controller, err := ttl.New(config, ttl.Options{})
		require.NoError(t, err)
		runHolding(t, release, controller.Run)
	})
}

// holding passes requests on, but keeps those of one method until it is told to let go.
type holding struct {
	http.RoundTripper
	method  string
	release chan struct{}
}

func (h holding) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == h.method {
		<-h.release
	}
	return h.RoundTripper.RoundTrip(request)
}

// runHolding runs a controller whose writes get no answer, ends it, and wants it to go on until the answer is there.
func runHolding(t *testing.T, release chan struct{}, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	synctest.Wait()
	cancel()
	synctest.Wait()
	select {
	case err := <-ended:
		assert.Fail(t, "a worker outlives Run", err)
	default:
	}
	close(release)
	require.NoError(t, <-ended)
}
