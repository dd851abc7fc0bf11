package leader_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
)

// Two replicas of the Job controller, of which one works at a time. In a real cluster each is a process of its own.
func Example_replicas() {
	ctx := context.Background()
	c, err := cluster.Start(ctx, cluster.Options{Nodes: 1, Controllers: []string{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Stop()

	stopFirst := startReplica(ctx, c.Config(), "first")
	runJob(ctx, c.Config(), "a")
	stopSecond := startReplica(ctx, c.Config(), "second")
	stopFirst()
	runJob(ctx, c.Config(), "b")
	stopSecond()
	// Output:
	// first leads
	// Job a is complete
	// first has stopped
	// second leads
	// Job b is complete
	// second has stopped
}

// replica is what the main function of a controller with several replicas comes to. All options but Name can be left to
// their defaults: this example is in a hurry.
func replica(ctx context.Context, config *rest.Config, identity string) error {
	controller, err := job.New(config, job.Options{SyncDelay: cluster.DefaultJobSyncDelay})
	if err != nil {
		return err
	}
	options := leader.Options{Name: "job-controller", Identity: identity, RetryPeriod: 10 * time.Millisecond}
	return leader.Run(ctx, config, options, func(ctx context.Context) error {
		fmt.Println(identity, "leads")
		defer fmt.Println(identity, "has stopped")
		return controller.Run(ctx)
	})
}

// startReplica runs a replica until stop is called, which waits for its end.
func startReplica(ctx context.Context, config *rest.Config, identity string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- replica(ctx, config, identity) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Println(err)
		}
	}
}

// runJob creates a Job of one pod and waits until it is complete.
func runJob(ctx context.Context, config *rest.Config, name string) {
	jobs := kubernetes.NewForConfigOrDie(config).BatchV1().Jobs("default")
	created, err := jobs.Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "main:v1"}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	changes, err := jobs.Watch(ctx, metav1.SingleObject(created.ObjectMeta))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		if j, ok := change.Object.(*batchv1.Job); ok && batch.HasCondition(j, batchv1.JobComplete) {
			fmt.Printf("Job %s is complete\n", name)
			return
		}
	}
}
