package etcdmem

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// The benchmarks go through the stock etcd3 store: encoding, transforming and decoding are in the numbers.

const podCount = 4000

func benchEnv(b *testing.B, pods int) *suiteEnv {
	b.Helper()
	e := newSuiteEnvOf(b, mvcc.Options{}, false)
	for i := range pods {
		create(b, e, fmt.Sprintf("pod-%05d", i))
	}
	b.ReportAllocs()
	return e
}

func BenchmarkStartAndStop(b *testing.B) {
	for b.Loop() {
		db, err := mvcc.New(mvcc.Options{})
		require.NoError(b, err)
		client := Client(b.Context(), db)
		require.ErrorIs(b, client.Close(), context.Canceled)
		db.Close()
	}
}

func BenchmarkStoreCreate(b *testing.B) {
	e := benchEnv(b, 0)
	for i := 0; b.Loop(); i++ {
		create(b, e, fmt.Sprint("pod-", i))
	}
}

func BenchmarkStoreUpdate(b *testing.B) {
	e := benchEnv(b, podCount)
	for i := 0; b.Loop(); i++ {
		err := e.GuaranteedUpdate(b.Context(), "/pods/ns/pod-00007", &example.Pod{}, false, nil, storage.SimpleUpdate(
			func(obj runtime.Object) (runtime.Object, error) {
				obj.(*example.Pod).Spec.NodeName = fmt.Sprint("node-", i)
				return obj, nil
			}), nil)
		require.NoError(b, err)
	}
}

func BenchmarkStoreGet(b *testing.B) {
	e := benchEnv(b, podCount)
	for b.Loop() {
		require.NoError(b, e.Get(b.Context(), "/pods/ns/pod-00007", storage.GetOptions{}, &example.Pod{}))
	}
}

func BenchmarkStoreList4000(b *testing.B) {
	e := benchEnv(b, podCount)
	for b.Loop() {
		list := &example.PodList{}
		require.NoError(b, e.GetList(b.Context(), "/pods/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list))
		require.Len(b, list.Items, podCount)
	}
}

func BenchmarkStoreCreateToEvent(b *testing.B) {
	e := benchEnv(b, 0)
	w := watchPods(b, e, create(b, e, "first").ResourceVersion)
	for i := 0; b.Loop(); i++ {
		create(b, e, fmt.Sprint("pod-", i))
		if event := <-w.ResultChan(); event.Type != watch.Added {
			b.Fatal(event)
		}
	}
}

// BenchmarkStoreFanOut20x2000 makes 2000 creates that each reach 20 watchers, and waits until all have all.
func BenchmarkStoreFanOut20x2000(b *testing.B) {
	const watchers, creates = 20, 2000
	for b.Loop() {
		e := benchEnv(b, 0)
		first := create(b, e, "first")
		var readers sync.WaitGroup
		for range watchers {
			w := watchPods(b, e, first.ResourceVersion)
			readers.Go(func() {
				for range creates {
					<-w.ResultChan()
				}
			})
		}
		for i := range creates {
			create(b, e, fmt.Sprint("pod-", i))
		}
		readers.Wait()
	}
}
