package objects_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator/internal/etcdmem"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
	"github.com/musterkube/muster/pkg/emulator/internal/objects"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// handler tells what it is told, in words.
type handler struct{ told chan string }

func (h handler) Replace(all []*objects.Object) { h.told <- fmt.Sprintf("replace %d", len(all)) }
func (h handler) Update(o *objects.Object)      { h.told <- "update " + describe(o) }
func (h handler) Delete(o *objects.Object)      { h.told <- "delete " + describe(o) }

func describe(o *objects.Object) string {
	return fmt.Sprintf("%s %s/%s %s at %d", o.Kind().Kind, o.Namespace, o.Name, o.UID, o.Revision)
}

// follow runs a reader until the test ends.
func follow(t *testing.T, db *mvcc.DB) handler {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := etcdmem.Client(ctx, db)
	h := handler{make(chan string, 10000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		objects.NewReader(client, "/registry/").Run(ctx, h)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = client.Close()
		db.Close()
	})
	return h
}

func newDB(t *testing.T, options mvcc.Options) *mvcc.DB {
	t.Helper()
	db, err := mvcc.New(options)
	require.NoError(t, err)
	return db
}

// stored returns a config map as the server stores it.
func stored(t *testing.T, name string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)},
		Data:       map[string]string{"a": "b"},
	}
	require.NoError(t, scheme.New().StorageCodec(schema.GroupVersion{Version: "v1"}).Encode(object, &buffer))
	return buffer.Bytes()
}

func put(t *testing.T, db *mvcc.DB, key string, value []byte) {
	t.Helper()
	_, err := db.Put(key, value, 0)
	require.NoError(t, err)
}

func TestReaderTellsOfAllObjectsAndThenOfChanges(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	put(t, db, "/registry/configmaps/ns/first", stored(t, "first"))
	put(t, db, "/registry/configmaps/ns/junk", []byte("junk"))
	put(t, db, "/elsewhere/configmaps/ns/other", stored(t, "other"))
	h := follow(t, db)
	assert.Equal(t, "replace 1", <-h.told, "what is no object, or elsewhere, is passed over")

	put(t, db, "/registry/configmaps/ns/second", stored(t, "second"))
	assert.Equal(t, "update ConfigMap ns/second uid-second at 5", <-h.told)
	put(t, db, "/registry/dogs/ns/third", []byte(`{"apiVersion":"example.com/v1","kind":"Dog","metadata":{"namespace":"ns","name":"third","uid":"u"},"spec":{}}`))
	assert.Equal(t, "update Dog ns/third u at 6", <-h.told, "a custom resource is stored as JSON")
	_, _, err := db.Delete(mvcc.Single("/registry/configmaps/ns/first"))
	require.NoError(t, err)
	assert.Equal(t, "delete ConfigMap ns/first uid-first at 7", <-h.told, "as it was last, at the revision of its end")
}

func TestReaderPagesThroughManyObjects(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	for i := range 1201 {
		name := fmt.Sprintf("c-%04d", i)
		put(t, db, "/registry/configmaps/ns/"+name, stored(t, name))
	}
	h := follow(t, db)
	assert.Equal(t, "replace 1201", <-h.told)
}

func TestReaderListsAnewWhenItsWatchIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{MaxPending: 3})
		h := follow(t, db)
		assert.Equal(t, "replace 0", <-h.told)
		synctest.Wait()

		// More at once than a watcher may be behind.
		var writes []mvcc.Op
		for i := range 10 {
			name := fmt.Sprintf("c-%d", i)
			writes = append(writes, mvcc.PutOp{Key: "/registry/configmaps/ns/" + name, Value: stored(t, name)})
		}
		_, err := db.Txn(mvcc.Txn{Then: writes})
		require.NoError(t, err)
		assert.Equal(t, "replace 10", <-h.told)
		put(t, db, "/registry/configmaps/ns/after", stored(t, "after"))
		assert.Equal(t, "update ConfigMap ns/after uid-after at 3", <-h.told)
	})
}
