package cluster_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
)

// newJob is a Job of one pod in the default namespace; change, which may be nil, makes it another.
func newJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
		}}},
	}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

// newGangJob is a Job of so many pods of a CPU each that are to start together.
func newGangJob(name string, size int32) *batchv1.Job {
	return newJob(name, func(spec *batchv1.JobSpec) {
		spec.CompletionMode = new(batchv1.IndexedCompletion)
		spec.Parallelism, spec.Completions = &size, &size
		spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	})
}

func createJob(tb testing.TB, client kubernetes.Interface, j *batchv1.Job) {
	tb.Helper()
	_, err := client.BatchV1().Jobs(j.Namespace).Create(tb.Context(), j, metav1.CreateOptions{})
	require.NoError(tb, err)
}

// awaitJob waits, by watching, until a Job of the default namespace is so, and returns it as it then was.
func awaitJob(tb testing.TB, client kubernetes.Interface, name, what string, is func(*batchv1.Job) bool) *batchv1.Job {
	tb.Helper()
	var last *batchv1.Job
	found := await(tb, func(ctx context.Context) (watch.Interface, error) {
		return client.BatchV1().Jobs(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	}, func(event watch.Event) bool {
		j, ok := event.Object.(*batchv1.Job)
		if ok && event.Type != watch.Deleted {
			last = j
			return is(j)
		}
		return false
	})
	require.True(tb, found, "Job %s was never %s, but last %+v", name, what, last)
	return last
}

func awaitComplete(tb testing.TB, client kubernetes.Interface, name string) *batchv1.Job {
	tb.Helper()
	return awaitJob(tb, client, name, "complete", func(j *batchv1.Job) bool { return batch.HasCondition(j, batchv1.JobComplete) })
}

// await waits until a watch, which begins with what there is, brings what is looked for.
func await(tb testing.TB, open func(context.Context) (watch.Interface, error), is func(watch.Event) bool) (found bool) {
	tb.Helper()
	return awaitFor(tb, patience, open, is)
}

// awaitFor is await with another patience.
func awaitFor(tb testing.TB, patience time.Duration, open func(context.Context) (watch.Interface, error), is func(watch.Event) bool) (found bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	watcher, err := open(ctx)
	require.NoError(tb, err)
	defer watcher.Stop()
	for {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				return false
			}
			if is(event) {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

func listPods(tb testing.TB, client kubernetes.Interface) []corev1.Pod {
	tb.Helper()
	list, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(tb.Context(), metav1.ListOptions{})
	require.NoError(tb, err)
	return list.Items
}

// tell returns what is so of each of some objects, sorted.
func tell[T any](of []T, is func(*T) string) []string {
	said := []string{}
	for i := range of {
		said = append(said, is(&of[i]))
	}
	slices.Sort(said)
	return said
}
