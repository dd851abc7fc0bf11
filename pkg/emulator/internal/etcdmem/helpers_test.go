package etcdmem

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// newClient makes a store and a client of it; both are closed when the test ends.
func newClient(tb testing.TB, dbOpts mvcc.Options, opts Options) (*kubernetes.Client, *mvcc.DB) {
	tb.Helper()
	db, err := mvcc.New(dbOpts)
	require.NoError(tb, err)
	client := NewClient(context.WithoutCancel(tb.Context()), db, opts)
	tb.Cleanup(func() {
		assert.ErrorIs(tb, client.Close(), context.Canceled)
		db.Close()
	})
	return client, db
}

// put writes a value under a key and returns the revision.
func put(tb testing.TB, db *mvcc.DB, key, value string) int64 {
	tb.Helper()
	rev, err := db.Put(key, []byte(value), 0)
	require.NoError(tb, err)
	return rev
}

// show writes a version of a key as "key=value@mod(create,version)".
func show(kv *mvccpb.KeyValue) string {
	if kv == nil {
		return "-"
	}
	return fmt.Sprintf("%s=%s@%d(%d,%d)", kv.Key, kv.Value, kv.ModRevision, kv.CreateRevision, kv.Version)
}

func showAll(kvs []*mvccpb.KeyValue) []string {
	list := []string{}
	for _, kv := range kvs {
		list = append(list, show(kv))
	}
	return list
}

// showResponse writes a watch response in one line.
func showResponse(response clientv3.WatchResponse) string {
	switch {
	case response.Err() != nil:
		return fmt.Sprintf("error %q, compacted at %d", response.Err(), response.CompactRevision)
	case response.Created:
		return fmt.Sprintf("created at %d", response.Header.Revision)
	case response.IsProgressNotify():
		return fmt.Sprintf("progress to %d", response.Header.Revision)
	}
	text := fmt.Sprintf("events to %d:", response.Header.Revision)
	for _, event := range response.Events {
		text += fmt.Sprintf(" %s %s was %s;", event.Type, show(event.Kv), show(event.PrevKv))
	}
	return text
}
