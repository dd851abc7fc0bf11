package emulator_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/musterkube/muster/pkg/emulator"
)

// A server with the queues of Kueue: their definitions are established when Start returns.
func ExampleReadCRDs() {
	ctx := context.Background()
	definitions, err := emulator.ReadCRDs("testdata/crds")
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := emulator.Start(ctx, emulator.Options{CRDs: definitions})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	queues := client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "localqueues"})
	queue, err := queues.Namespace("default").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2",
		"kind":       "LocalQueue",
		"metadata":   map[string]any{"name": "team-a"},
		"spec":       map[string]any{"clusterQueue": "shared"},
	}}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(queue.GetName(), queue.Object["spec"])
	// Output:
	// team-a map[clusterQueue:shared stopPolicy:None]
}
