package mvcc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// newDB makes a store that is closed when the test ends.
func newDB(tb testing.TB, opts mvcc.Options) *mvcc.DB {
	tb.Helper()
	db, err := mvcc.New(opts)
	require.NoError(tb, err)
	tb.Cleanup(db.Close)
	return db
}

// put writes keys given as "key=value", one revision each, and returns the last revision.
func put(tb testing.TB, db *mvcc.DB, pairs ...string) int64 {
	tb.Helper()
	var rev int64
	for _, pair := range pairs {
		var key, value string
		for i := range pair {
			if pair[i] == '=' {
				key, value = pair[:i], pair[i+1:]
			}
		}
		var err error
		rev, err = db.Put(key, []byte(value), 0)
		require.NoError(tb, err)
	}
	return rev
}

func remove(tb testing.TB, db *mvcc.DB, keys ...string) int64 {
	tb.Helper()
	var rev int64
	for _, key := range keys {
		var err error
		_, rev, err = db.Delete(mvcc.Single(key))
		require.NoError(tb, err)
	}
	return rev
}

// show writes a version as "key=value@mod(create,version)".
func show(kv *mvcc.KeyValue) string {
	if kv == nil {
		return "-"
	}
	text := fmt.Sprintf("%s=%s@%d(%d,%d)", kv.Key, kv.Value, kv.ModRevision, kv.CreateRevision, kv.Version)
	if kv.Lease != 0 {
		text += fmt.Sprintf("lease %d", kv.Lease)
	}
	return text
}

func showAll(kvs []*mvcc.KeyValue) []string {
	list := []string{}
	for _, kv := range kvs {
		list = append(list, show(kv))
	}
	return list
}

// showEvents writes events as "PUT new was old" and "DELETE key@mod was old".
func showEvents(events []mvcc.Event) []string {
	list := []string{}
	for _, event := range events {
		if event.IsDelete() {
			list = append(list, fmt.Sprintf("DELETE %s@%d was %s", event.KV.Key, event.KV.ModRevision, show(event.Prev)))
		} else {
			list = append(list, fmt.Sprintf("PUT %s was %s", show(event.KV), show(event.Prev)))
		}
	}
	return list
}

// take returns what waits for a watcher.
func take(tb testing.TB, w *mvcc.Watcher) []string {
	tb.Helper()
	events, _, err := w.Take()
	require.NoError(tb, err)
	return showEvents(events)
}
