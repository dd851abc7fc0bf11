package kubelet_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

// Index 1 of any Job fails twice before it ends well; all else ends well after a second.
func ExampleFailIndex() {
	script := kubelet.FailIndex(1, 42, 2, kubelet.Fixed{Duration: time.Second})
	for _, attempt := range []kubelet.Attempt{{Index: 0, Number: 1}, {Index: 1, Number: 1}, {Index: 1, Number: 2}, {Index: 1, Number: 3}} {
		outcome := script.Run(attempt)
		fmt.Printf("index %d, attempt %d: exit code %d after %s\n", attempt.Index, attempt.Number, outcome.ExitCode, outcome.Duration)
	}
	// Output:
	// index 0, attempt 1: exit code 0 after 1s
	// index 1, attempt 1: exit code 42 after 1s
	// index 1, attempt 2: exit code 42 after 1s
	// index 1, attempt 3: exit code 0 after 1s
}

func ExampleParseFailure() {
	failure, err := kubelet.ParseFailure("2=137x3")
	fmt.Println(failure.Index, failure.ExitCode, failure.Attempts, err)
	// Output: 2 137 3 <nil>
}

// A script is any function of the attempt.
func ExampleScriptFunc() {
	script := kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
		if a.Container == "trainer" && a.Number == 1 {
			return kubelet.Outcome{Duration: time.Minute, ExitCode: 137, Reason: "OOMKilled"}
		}
		return kubelet.Outcome{Duration: time.Hour}
	})
	fmt.Println(script.Run(kubelet.Attempt{Container: "trainer", Number: 1}).Reason)
	fmt.Println(script.Run(kubelet.Attempt{Container: "trainer", Number: 2}).Duration)
	// Output:
	// OOMKilled
	// 1h0m0s
}

// A kubelet runs beside an API server, here the emulator, and plays the pods that are bound to its node.
func ExampleKubelet_Run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	k, err := kubelet.New(server.Config(), kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{ExitCode: 7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	defer func() {
		cancel()
		fmt.Println("kubelet ended:", <-ended)
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
			NodeName: "n1", RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event := range changes.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		fmt.Println(pod.Status.Phase)
		if pod.Status.Phase == corev1.PodFailed {
			fmt.Println("exit code", pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
			break
		}
	}
	// Output:
	// Pending
	// Running
	// Failed
	// exit code 7
	// kubelet ended: <nil>
}
