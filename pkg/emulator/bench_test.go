package emulator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		server, err := emulator.Start(b.Context(), emulator.Options{})
		require.NoError(b, err)
		server.Stop()
	}
}

// BenchmarkStartWithCRDs is a start that has definitions to install: a small one, three of Kueue.
func BenchmarkStartWithCRDs(b *testing.B) {
	read, err := emulator.ReadCRDs(kueue)
	require.NoError(b, err)
	for name, crds := range map[string][]*apiextensionsv1.CustomResourceDefinition{"small": {makeCRD()}, "kueue": read} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				server, err := emulator.Start(b.Context(), emulator.Options{CRDs: crds})
				require.NoError(b, err)
				server.Stop()
			}
		})
	}
}

// BenchmarkFirstCustomResource measures from the call that creates a definition until the first of its objects is made,
// on a server that has had none before.
func BenchmarkFirstCustomResource(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		server, err := emulator.Start(b.Context(), emulator.Options{})
		require.NoError(b, err)
		client := custom(b, server.Config())
		b.StartTimer()
		createCRD(b, server.Config(), makeCRD())
		_, err = createWidget(b.Context(), client, "w", map[string]any{"size": int64(1)})
		require.NoError(b, err)
		b.StopTimer()
		server.Stop()
		b.StartTimer()
	}
}

// BenchmarkCreateCustomResource is what one more object costs.
func BenchmarkCreateCustomResource(b *testing.B) {
	server := start(b, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(b, server.Config()).Resource(widgets).Namespace("default")
	for b.Loop() {
		widget := makeWidget("", map[string]any{"size": int64(1)})
		widget.SetGenerateName("w")
		_, err := client.Create(b.Context(), widget, metav1.CreateOptions{})
		require.NoError(b, err)
	}
}

// prepare returns a protobuf client of a server that has made its first write, which is slower than those that follow.
func prepare(b *testing.B, configure func(*emulator.Server) *rest.Config) kubernetes.Interface {
	b.Helper()
	server := start(b, emulator.Options{})
	client := kube(b, protobuf(configure(server)))
	_, err := client.CoreV1().Pods("default").Create(b.Context(), makePod("first"), metav1.CreateOptions{})
	require.NoError(b, err)
	return client
}

func inMemory(server *emulator.Server) *rest.Config { return server.Config() }

func create(b *testing.B, client kubernetes.Interface) *corev1.Pod {
	b.Helper()
	pod := makePod("")
	pod.GenerateName = "p"
	created, err := client.CoreV1().Pods("default").Create(b.Context(), pod, metav1.CreateOptions{})
	require.NoError(b, err)
	return created
}

func BenchmarkCreate(b *testing.B) {
	client := prepare(b, inMemory)
	for b.Loop() {
		create(b, client)
	}
}

func BenchmarkCreateParallel(b *testing.B) {
	client := prepare(b, inMemory)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			create(b, client)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	client := prepare(b, inMemory)
	for b.Loop() {
		_, err := client.CoreV1().Pods("default").Get(b.Context(), "first", metav1.GetOptions{})
		require.NoError(b, err)
	}
}

func BenchmarkList(b *testing.B) {
	for _, count := range []int{10, 1000} {
		b.Run(fmt.Sprintf("pods=%d", count), func(b *testing.B) {
			client := prepare(b, inMemory)
			for range count - 1 {
				create(b, client)
			}
			for b.Loop() {
				list, err := client.CoreV1().Pods("default").List(b.Context(), metav1.ListOptions{})
				require.NoError(b, err)
				require.Len(b, list.Items, count)
			}
		})
	}
}

// BenchmarkWatch measures from the call that creates a pod until a watch of the same client delivers it.
func BenchmarkWatch(b *testing.B) {
	client := prepare(b, inMemory)
	watching, err := client.CoreV1().Pods("default").Watch(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
	defer watching.Stop()
	<-watching.ResultChan()
	for b.Loop() {
		created := create(b, client)
		event := <-watching.ResultChan()
		require.Equal(b, created.Name, event.Object.(*corev1.Pod).Name)
	}
}

// BenchmarkGetOverTLS is what the door costs that BenchmarkGet does without.
func BenchmarkGetOverTLS(b *testing.B) {
	client := prepare(b, func(server *emulator.Server) *rest.Config {
		url, err := server.Listen(b.Context(), "127.0.0.1:0")
		require.NoError(b, err)
		config := &rest.Config{Host: url, BearerToken: server.Config().BearerToken, QPS: -1}
		config.Insecure = true
		return config
	})
	for b.Loop() {
		_, err := client.CoreV1().Pods("default").Get(b.Context(), "first", metav1.GetOptions{})
		require.NoError(b, err)
	}
}
