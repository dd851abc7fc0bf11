package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
)

// BenchmarkJobs measures how fast Jobs come to their end whose pods take no time: what the API server, the Job
// controller, the scheduler and the kubelet cost. A node has room for 110 pods.
func BenchmarkJobs(b *testing.B) {
	for _, bc := range []struct {
		name                    string
		nodes                   int
		jobs                    int
		parallelism, completion int32
		mode                    batchv1.CompletionMode
	}{
		{"20 plain Jobs of 100 pods", 20, 20, 100, 100, batchv1.NonIndexedCompletion},
		{"20 gangs of 100 pods", 20, 20, 100, 100, batchv1.IndexedCompletion},
		{"one Indexed Job of 10000 completions", 20, 1, 1000, 10000, batchv1.IndexedCompletion},
	} {
		b.Run(bc.name, func(b *testing.B) {
			if testing.Short() && bc.completion > 1000 {
				b.Skip("takes long")
			}
			var jobs []*batchv1.Job
			for i := range bc.jobs {
				jobs = append(jobs, newJob(fmt.Sprintf("job-%d", i), func(spec *batchv1.JobSpec) {
					spec.Parallelism, spec.Completions, spec.CompletionMode = &bc.parallelism, &bc.completion, &bc.mode
				}))
			}
			var busy time.Duration
			for b.Loop() {
				busy += timeJobs(b, bc.nodes, jobs)
			}
			b.ReportMetric(float64(b.N*bc.jobs)*float64(bc.completion)/busy.Seconds(), "pods/s")
		})
	}
}

// timeJobs returns how long a new cluster takes from the creation of the first of the Jobs to the end of the last.
func timeJobs(b *testing.B, nodes int, jobs []*batchv1.Job) time.Duration {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	c, err := cluster.Start(quiet(b.Context()), cluster.Options{Nodes: nodes})
	require.NoError(b, err)
	defer c.Stop()
	client := kube(b, c.Config())
	ready := map[string]bool{}
	require.True(b, await(b, func(ctx context.Context) (watch.Interface, error) {
		return client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	}, func(event watch.Event) bool {
		if node, ok := event.Object.(*corev1.Node); ok && len(node.Spec.Taints) == 0 && len(node.Status.Allocatable) > 0 {
			ready[node.Name] = true
		}
		return len(ready) == nodes
	}))

	b.StartTimer()
	began := now()
	for _, j := range jobs {
		createJob(b, client, j)
	}
	complete := map[string]bool{}
	require.True(b, awaitFor(b, 20*time.Minute, func(ctx context.Context) (watch.Interface, error) {
		return client.BatchV1().Jobs(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{})
	}, func(event watch.Event) bool {
		if j, ok := event.Object.(*batchv1.Job); ok && batch.HasCondition(j, batchv1.JobComplete) {
			complete[j.Name] = true
		}
		return len(complete) == len(jobs)
	}))
	took := now().Sub(began)
	b.StopTimer()
	return took
}
