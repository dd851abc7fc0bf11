package job_test

import (
	"context"
	"fmt"
	"log"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
)

// A controller runs Jobs on an API server in the same process. The example plays the one kubelet that it needs.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()

	controller, err := job.New(server.Config(), job.Options{SyncDelay: -1})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- controller.Run(ctx) }()

	client := kubernetes.NewForConfigOrDie(server.Config())
	_, err = client.BatchV1().Jobs("default").Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "hello"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}

	pods, err := client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	pod := (<-pods.ResultChan()).Object.(*corev1.Pod)
	pods.Stop()
	pod.Status.Phase = corev1.PodSucceeded
	if _, err := client.CoreV1().Pods("default").UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		log.Fatal(err)
	}

	jobs, err := client.BatchV1().Jobs("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for event := range jobs.ResultChan() {
		if j, ok := event.Object.(*batchv1.Job); ok && event.Type != watch.Deleted {
			if how, finished := batch.Finished(j); finished {
				fmt.Printf("%s: %s, %d succeeded\n", j.Name, how, j.Status.Succeeded)
				break
			}
		}
	}
	jobs.Stop()
	cancel()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output: hello: Complete, 1 succeeded
}
