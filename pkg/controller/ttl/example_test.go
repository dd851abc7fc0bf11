package ttl_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/controller/ttl"
	"github.com/musterkube/muster/pkg/emulator"
)

func ExampleExpireTime() {
	ended := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	job := &batchv1.Job{
		Spec: batchv1.JobSpec{TTLSecondsAfterFinished: new(int32(3600))},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(ended),
		}}},
	}
	fmt.Println(ttl.ExpireTime(job))
	// Output: 2026-04-01 13:00:00 +0000 UTC true <nil>
}

// A Job whose time to live is over is deleted in the foreground.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	controller, err := ttl.New(server.Config(), ttl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()

	if err := outliveJob(ctx, kubernetes.NewForConfigOrDie(server.Config())); err != nil {
		fmt.Println(err)
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// deleted with [foregroundDeletion]
	// <nil>
}

// outliveJob makes a Job that ends at once and may not live on, and waits until it is being deleted.
func outliveJob(ctx context.Context, client kubernetes.Interface) error {
	jobs := client.BatchV1().Jobs("default")
	job, err := jobs.Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "short"},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: new(int32(0)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	events, err := jobs.Watch(ctx, metav1.ListOptions{ResourceVersion: job.ResourceVersion})
	if err != nil {
		return err
	}
	defer events.Stop()
	job.Status = completed(job.CreationTimestamp.Time)
	if _, err := jobs.UpdateStatus(ctx, job, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for event := range events.ResultChan() {
		if job, ok := event.Object.(*batchv1.Job); ok && job.DeletionTimestamp != nil {
			fmt.Println("deleted with", job.Finalizers)
			return nil
		}
	}
	return fmt.Errorf("waiting for job %s to be deleted: the watch has ended", job.Name)
}
