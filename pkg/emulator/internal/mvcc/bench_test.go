package mvcc_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// podCount is how many keys the benchmarks have in the store: a cluster of some size.
const podCount = 4000

// pod is as long as a small pod is in protobuf with its managed fields.
var pod = []byte(strings.Repeat("p", 2048))

func podKey(i int) string { return fmt.Sprintf("/registry/pods/default/worker-%05d", i) }

func benchDB(b *testing.B, keys int) *mvcc.DB {
	b.Helper()
	db, err := mvcc.New(mvcc.Options{})
	require.NoError(b, err)
	b.Cleanup(db.Close)
	for i := range keys {
		_, err := db.Put(podKey(i), pod, 0)
		require.NoError(b, err)
	}
	b.ReportAllocs()
	return db
}

func BenchmarkPutNew(b *testing.B) {
	db := benchDB(b, 0)
	for i := 0; b.Loop(); i++ {
		_, _ = db.Put(podKey(i), pod, 0)
	}
}

func BenchmarkPutExisting(b *testing.B) {
	db := benchDB(b, podCount)
	keys := make([]string, podCount)
	for i := range keys {
		keys[i] = podKey(i)
	}
	for i := 0; b.Loop(); i++ {
		_, _ = db.Put(keys[i%podCount], pod, 0)
	}
}

// BenchmarkPutBetweenScans shows what a frozen view costs the write after it.
func BenchmarkPutBetweenScans(b *testing.B) {
	db := benchDB(b, podCount)
	for i := 0; b.Loop(); i++ {
		_, _ = db.Range(mvcc.Single(podKey(7)), mvcc.RangeOptions{})
		_, _ = db.Put(podKey(i%podCount), pod, 0)
	}
}

func BenchmarkGet(b *testing.B) {
	db := benchDB(b, podCount)
	key := podKey(podCount / 2)
	for b.Loop() {
		_, _, _ = db.Get(key, 0)
	}
}

func BenchmarkGetParallel(b *testing.B) {
	db := benchDB(b, podCount)
	key := podKey(podCount / 2)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _, _ = db.Get(key, 0)
		}
	})
}

func BenchmarkList4000(b *testing.B) {
	db := benchDB(b, podCount)
	for b.Loop() {
		result, err := db.Range(mvcc.Prefix("/registry/pods/"), mvcc.RangeOptions{})
		if err != nil || len(result.KVs) != podCount {
			b.Fatal(len(result.KVs), err)
		}
	}
}

// BenchmarkListWhileWriting lists with a writer that never pauses, and tells how many writes it got in per list.
func BenchmarkListWhileWriting(b *testing.B) {
	db := benchDB(b, podCount)
	stop := make(chan struct{})
	writes := 0
	var writer sync.WaitGroup
	writer.Go(func() {
		for ; ; writes++ {
			select {
			case <-stop:
				return
			default:
				_, _ = db.Put(podKey(writes%podCount), pod, 0)
			}
		}
	})
	for b.Loop() {
		_, _ = db.Range(mvcc.Prefix("/registry/pods/"), mvcc.RangeOptions{})
	}
	close(stop)
	writer.Wait()
	b.ReportMetric(float64(writes)/float64(b.N), "writes/op")
}

// BenchmarkFanOut makes 2000 writes that each reach 20 watchers, and waits until all have all.
func BenchmarkFanOut20x2000(b *testing.B) {
	const watchers, writes = 20, 2000
	for b.Loop() {
		db := benchDB(b, 0)
		var readers sync.WaitGroup
		for range watchers {
			w, err := db.Watch(mvcc.Prefix("/registry/pods/"), 0)
			require.NoError(b, err)
			readers.Go(func() {
				defer w.Stop()
				for seen := 0; seen < writes; {
					events, err := w.Next(b.Context())
					if err != nil {
						b.Error(err)
						return
					}
					seen += len(events)
				}
			})
		}
		for i := range writes {
			_, _ = db.Put(podKey(i), pod, 0)
		}
		readers.Wait()
	}
}

// BenchmarkPutManyWatchers writes a key that one of 500 watchers cares about.
func BenchmarkPutManyWatchers(b *testing.B) {
	db := benchDB(b, podCount)
	for i := range 500 {
		w, err := db.Watch(mvcc.Prefix(fmt.Sprintf("/registry/resource-%d/", i)), 0)
		require.NoError(b, err)
		b.Cleanup(w.Stop)
	}
	for i := 0; b.Loop(); i++ {
		_, _ = db.Put(podKey(i%podCount), pod, 0)
	}
}
