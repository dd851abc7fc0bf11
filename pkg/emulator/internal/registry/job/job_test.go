package job_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

var resource = batchv1.SchemeGroupVersion.WithResource("jobs")

func jobs(t *testing.T) (registrytest.Client, registrytest.Storages) {
	t.Helper()
	storages := registrytest.New(t, features.Gates{})
	return storages.Client(t, resource, "default"), storages
}

func makeJob() *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "default"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
		}}},
	}
	batch.SetDefaults(job)
	return job
}

func get(t *testing.T, client registrytest.Client) *batchv1.Job {
	t.Helper()
	obj, err := client.Get("j")
	require.NoError(t, err)
	return obj.(*batchv1.Job)
}

func TestCreateMakesTheSelectorAndWipesTheStatus(t *testing.T) {
	client, _ := jobs(t)
	job := makeJob()
	job.Status.Succeeded = 7
	_, err := client.Create(job)
	require.NoError(t, err)
	stored := get(t, client)
	assert.Equal(t, map[string]string{batchv1.ControllerUidLabel: string(stored.UID)}, stored.Spec.Selector.MatchLabels)
	assert.Zero(t, stored.Status)
	assert.Equal(t, int64(1), stored.Generation)
}

func TestInvalidJobsAreRefused(t *testing.T) {
	client, _ := jobs(t)
	job := makeJob()
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	_, err := client.Create(job)
	assert.ErrorContains(t, err, `Job.batch "j" is invalid: spec.template.spec.restartPolicy: Required value`)
}

func TestUpdateKeepsTheStatusAndCountsGenerations(t *testing.T) {
	client, _ := jobs(t)
	_, err := client.Create(makeJob())
	require.NoError(t, err)
	_, err = client.Update("j", "", func(obj runtime.Object) {
		job := obj.(*batchv1.Job)
		job.Spec.Suspend = new(true)
		job.Status.Active = 3
	})
	require.NoError(t, err)
	assert.Equal(t, int64(2), get(t, client).Generation)
	assert.Zero(t, get(t, client).Status.Active)

	_, err = client.Update("j", "", func(obj runtime.Object) { obj.(*batchv1.Job).Annotations = map[string]string{"a": "b"} })
	require.NoError(t, err)
	assert.Equal(t, int64(2), get(t, client).Generation)
}

func TestStatusUpdateKeepsTheSpecAndTakesMetadata(t *testing.T) {
	client, _ := jobs(t)
	_, err := client.Create(makeJob())
	require.NoError(t, err)
	_, err = client.Update("j", "status", func(obj runtime.Object) {
		job := obj.(*batchv1.Job)
		job.Spec.Suspend = new(true)
		job.Annotations = map[string]string{"a": "b"}
		job.Status.Active = 1
		job.Status.StartTime = &metav1.Time{Time: job.CreationTimestamp.Time}
	})
	require.NoError(t, err)
	job := get(t, client)
	assert.False(t, *job.Spec.Suspend)
	assert.Equal(t, "b", job.Annotations["a"])
	assert.Equal(t, int32(1), job.Status.Active)
	assert.Equal(t, int64(1), job.Generation)
}

// warnings collects what a request is warned of.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestDeleteOrphansUnlessTold(t *testing.T) {
	for name, tc := range map[string]struct {
		options       metav1.DeleteOptions
		wantFinalizer string
		wantWarning   bool
	}{
		"without a word the pods are kept, with a warning": {wantFinalizer: metav1.FinalizerOrphanDependents, wantWarning: true},
		"orphaning on purpose needs no warning":            {options: metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}, wantFinalizer: metav1.FinalizerOrphanDependents},
		"in the foreground the pods go first":              {options: metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}, wantFinalizer: metav1.FinalizerDeleteDependents},
		"in the background the Job goes first":             {options: metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}},
	} {
		t.Run(name, func(t *testing.T) {
			client, storages := jobs(t)
			_, err := client.Create(makeJob())
			require.NoError(t, err)
			var warned warnings
			ctx := warning.WithWarningRecorder(registrytest.Context(t, resource, "default"), &warned)
			_, gone, err := deleter(storages).Delete(ctx, "j", rest.ValidateAllObjectFunc, &tc.options)
			require.NoError(t, err)
			if tc.wantWarning {
				assert.Len(t, warned, 1)
			} else {
				assert.Empty(t, warned)
			}
			if tc.wantFinalizer == "" {
				assert.True(t, gone)
				return
			}
			assert.Equal(t, []string{tc.wantFinalizer}, get(t, client).Finalizers)
		})
	}
}

func deleter(storages registrytest.Storages) interface {
	Delete(context.Context, string, rest.ValidateObjectFunc, *metav1.DeleteOptions) (runtime.Object, bool, error)
} {
	return storages[batchv1.SchemeGroupVersion]["jobs"].(rest.GracefulDeleter)
}

func TestSelectBySuccesses(t *testing.T) {
	client, _ := jobs(t)
	_, err := client.Create(makeJob())
	require.NoError(t, err)
	for selector, want := range map[string]int{"status.successful=0": 1, "status.successful=1": 0} {
		list, err := client.List(fields.ParseSelectorOrDie(selector))
		require.NoError(t, err)
		assert.Len(t, list.(*batchv1.JobList).Items, want)
	}
}
