package experiment_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	experiment "github.com/musterkube/muster/examples/test-your-controller"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
	"github.com/musterkube/muster/pkg/testing/expect"
)

// newExperiment is the experiment default/lr-sweep, of four workers.
func newExperiment() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "lr-sweep", Namespace: "default", Labels: map[string]string{experiment.Label: "true"}},
		Data:       map[string]string{"image": "train:v1", "workers": "4"},
	}
}

func create(t *testing.T, kube kubernetes.Interface) *corev1.ConfigMap {
	t.Helper()
	created, err := kube.CoreV1().ConfigMaps("default").Create(t.Context(), newExperiment(), metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

// hasResult is the condition that an experiment is over, and how.
func hasResult(want string) expect.Condition[*corev1.ConfigMap] {
	return expect.That("have the result "+want, func(settings *corev1.ConfigMap) bool {
		return settings.Annotations[experiment.Result] == want
	})
}

// startController runs a controller in real time, and ends it with the test.
func startController(t *testing.T, cfg *rest.Config) {
	t.Helper()
	controller, err := experiment.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.ErrorIs(t, <-ended, context.Canceled)
	})
}

// TestJobOfAnExperiment has an API server without any controller but the one that is tested: the test does what the Job
// controller would do.
func TestJobOfAnExperiment(t *testing.T) {
	server := emulatortest.Start(t, emulator.Options{})
	kube := kubernetes.NewForConfigOrDie(server.Config())
	startController(t, server.Config())

	settings := create(t, kube)
	job := expect.Eventually(t, kube.BatchV1().Jobs("default"), "lr-sweep", expect.Exists[*batchv1.Job]())
	assert.True(t, metav1.IsControlledBy(job, settings))
	gang, reason := builder.Eligible(job)
	assert.True(t, gang, reason)
	assert.EqualValues(t, 4, *job.Spec.Completions)
	assert.Equal(t, "train:v1", job.Spec.Template.Spec.Containers[0].Image)

	require.NoError(t, batch.Fail(job, batchv1.JobReasonBackoffLimitExceeded, "too bad", metav1.Now().Time))
	_, err := kube.BatchV1().Jobs("default").UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
	require.NoError(t, err)
	expect.Eventually(t, kube.CoreV1().ConfigMaps("default"), "lr-sweep", hasResult("Failed"))

	// Garbage collection is the server's own part.
	require.NoError(t, kube.CoreV1().ConfigMaps("default").Delete(t.Context(), "lr-sweep", metav1.DeleteOptions{}))
	expect.Eventually(t, kube.BatchV1().Jobs("default"), "lr-sweep", expect.Gone[*batchv1.Job]())
}

// TestServerErrors has the first three creations of Jobs fail, the third after the Job was made: an answer that got lost.
func TestServerErrors(t *testing.T) {
	var creations atomic.Int32
	faults := func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/jobs") {
				server.ServeHTTP(w, r)
				return
			}
			switch creations.Add(1) {
			case 1, 2:
				http.Error(w, "out of order", http.StatusInternalServerError)
			case 3:
				server.ServeHTTP(discard{http.Header{}}, r)
				http.Error(w, "lost", http.StatusInternalServerError)
			default:
				server.ServeHTTP(w, r)
			}
		})
	}
	server := emulatortest.Start(t, emulator.Options{WrapHandler: faults})
	kube := kubernetes.NewForConfigOrDie(server.Config())
	startController(t, server.Config())
	create(t, kube)
	job := expect.Eventually(t, kube.BatchV1().Jobs("default"), "lr-sweep", expect.Exists[*batchv1.Job]())
	require.NoError(t, batch.Complete(job, metav1.Now().Time))
	_, err := kube.BatchV1().Jobs("default").UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
	require.NoError(t, err)
	expect.Eventually(t, kube.CoreV1().ConfigMaps("default"), "lr-sweep", hasResult("Complete"))
}

// discard is a response that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(body []byte) (int, error) { return len(body), nil }
func (d discard) WriteHeader(int)                {}
func (d discard) Flush()                         {}
func (d discard) CloseNotify() <-chan bool       { return nil }
