package cluster_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
)

// A gang of four runs to its end on three nodes. Nothing has to be installed, and no port is opened.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{Nodes: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Stop()

	jobs := kubernetes.NewForConfigOrDie(c.Config()).BatchV1().Jobs("default")
	changes, err := jobs.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer changes.Stop()
	_, err = jobs.Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "training"},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion),
			Completions:    new(int32(4)),
			Parallelism:    new(int32(4)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "trainer", Image: "trainer:v1"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for change := range changes.ResultChan() {
		job, ok := change.Object.(*batchv1.Job)
		if ok && batch.HasCondition(job, batchv1.JobComplete) {
			fmt.Printf("%s is complete: %d pods succeeded, indexes %s\n", job.Name, job.Status.Succeeded, job.Status.CompletedIndexes)
			return
		}
	}
	fmt.Println(c.Err())
	// Output:
	// training is complete: 4 pods succeeded, indexes 0-3
}

func ExampleCheckControllers() {
	fmt.Println(cluster.CheckControllers([]string{"job", "scheduler"}))
	fmt.Println(cluster.CheckControllers([]string{"cronjob"}))
	// Output:
	// <nil>
	// there is no controller "cronjob": have job, podgroup-protection, ttl-after-finished, garbage-collector, namespace, clusterrole-aggregation, node-lifecycle, pod-garbage-collector, scheduler
}
