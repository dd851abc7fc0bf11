//go:build unix

package kubelet_test

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

// With this runtime a container is a process of this machine, and its log what the process writes.
func ExampleProcesses() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	k, err := kubelet.New(server.Config(), kubelet.Options{
		Nodes:   []kubelet.Node{{Name: "n1"}},
		Runtime: kubelet.Processes(kubelet.ProcessOptions{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Println(err)
		}
	}()

	pods := kubernetes.NewForConfigOrDie(server.Config()).CoreV1().Pods("default")
	changes, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer changes.Stop()
	_, err = pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "hello"},
		Spec: corev1.PodSpec{
			NodeName: "n1", RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "main", Image: "busybox", Command: []string{"sh", "-c", "echo hello, $(WHO)"},
				Env: []corev1.EnvVar{{Name: "WHO", Value: "world"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event := range changes.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		log, err := k.ContainerLogs(ctx, pod, &corev1.PodLogOptions{Container: "main"})
		if err != nil {
			fmt.Println(err)
			return
		}
		text, err := io.ReadAll(log)
		fmt.Print(string(text), err, "\n")
		break
	}
	// Output:
	// hello, world
	// <nil>
}
