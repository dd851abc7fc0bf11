package emulator_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

// A server in this process, and a Workload that a client makes on it. In a test, t.Context() is the context to take.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()

	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	workload, err := client.SchedulingV1alpha2().Workloads("default").Create(ctx, &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "training"},
		Spec: schedulingv1alpha2.WorkloadSpec{PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
			Name:             "workers",
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(workload.Namespace, workload.Name, workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount)

	// What a cluster would refuse is refused here.
	workload.ResourceVersion, workload.Name = "", "more"
	workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = 0
	_, err = client.SchedulingV1alpha2().Workloads("default").Create(ctx, workload, metav1.CreateOptions{})
	fmt.Println(err)
	// Output:
	// default training 4
	// Workload.scheduling.k8s.io "more" is invalid: spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value
}

// Servers are independent: each has its own objects, and its own feature gates.
func ExampleStart_gates() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, gates := range []features.Gates{{}, features.KubernetesDefaults()} {
		server, err := emulator.Start(ctx, emulator.Options{Gates: gates})
		if err != nil {
			log.Fatal(err)
		}
		defer server.Stop()
		client, err := kubernetes.NewForConfig(server.Config())
		if err != nil {
			log.Fatal(err)
		}
		_, err = client.Discovery().ServerResourcesForGroupVersion("scheduling.k8s.io/v1alpha2")
		fmt.Println("served:", err == nil)
	}
	// Output:
	// served: true
	// served: false
}

// A door for clients outside the process, such as kubectl.
func ExampleServer_Listen() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	if _, err := server.Listen(ctx, "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	// Then: server.WriteKubeconfig("kubeconfig"), and kubectl --kubeconfig kubeconfig get workloads.

	_, err = server.Listen(ctx, "0.0.0.0:0")
	fmt.Println(err)
	// Output:
	// listening at "0.0.0.0:0": want a loopback address, such as 127.0.0.1:0: this server is for tests and must not be reachable from elsewhere, unless Options.ListenBeyondLoopback says so
}

// A state that takes some making, made once: for each test case the server is set back to it.
func ExampleServer_Restore() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	configMaps := kubernetes.NewForConfigOrDie(server.Config()).CoreV1().ConfigMaps("default")
	if _, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prepared"}}, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	prepared, err := server.Snapshot()
	if err != nil {
		log.Fatal(err)
	}

	for _, name := range []string{"first", "second"} {
		if err := server.Restore(prepared); err != nil {
			log.Fatal(err)
		}
		if _, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			log.Fatal(err)
		}
		list, err := configMaps.List(ctx, metav1.ListOptions{})
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range list.Items {
			fmt.Println(name+":", item.Name)
		}
	}
	// Output:
	// first: first
	// first: prepared
	// second: prepared
	// second: second
}

// Servers that begin with one state, which may come from a file, see nothing of one another.
func ExampleOptions_restore() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer first.Stop()
	snapshot, err := first.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	second, err := emulator.Start(ctx, emulator.Options{Restore: snapshot})
	if err != nil {
		log.Fatal(err)
	}
	defer second.Stop()
	fmt.Println(snapshot.Len(), "objects")
	// Output: 7 objects
}
