package objects

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// retryDelay is how long Run waits before it lists again after the store refused to answer.
const retryDelay = time.Second

// page is how many objects are read at a time.
const page = 500

// Handler is told of all objects, by one goroutine.
type Handler interface {
	// Replace tells of every object that there is. Whatever the handler knew before and is not among them is gone.
	Replace(all []*Object)
	// Update tells of an object that was made or changed.
	Update(object *Object)
	// Delete tells of an object that is gone, as it was last.
	Delete(object *Object)
}

// Reader follows the objects below a prefix of the store's keys.
type Reader struct {
	client *kubernetes.Client
	prefix string
}

// NewReader returns a reader of the objects below prefix, which ends in a slash.
func NewReader(client *kubernetes.Client, prefix string) *Reader {
	return &Reader{client: client, prefix: prefix}
}

// Run tells handlers of all objects and of every change until ctx ends. When a watch breaks off, because its start has
// been compacted away or the reader was too slow, it lists anew.
func (r *Reader) Run(ctx context.Context, handlers ...Handler) {
	logger := klog.FromContext(ctx)
	for ctx.Err() == nil {
		revision, err := r.list(ctx, handlers)
		if err == nil {
			err = r.tail(ctx, revision+1, handlers)
		}
		if ctx.Err() != nil {
			return
		}
		logger.V(2).Info("Reading all objects again", "reason", err)
		timer := clock.RealClock{}.NewTimer(retryDelay)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// list reads all objects at one revision, and returns that.
func (r *Reader) list(ctx context.Context, handlers []Handler) (int64, error) {
	var all []*Object
	options := kubernetes.ListOptions{Limit: page}
	for {
		response, err := r.client.Kubernetes.List(ctx, r.prefix, options)
		if err != nil {
			return 0, fmt.Errorf("listing %s: %w", r.prefix, err)
		}
		if options.Revision == 0 {
			options.Revision = response.Revision
		}
		for _, kv := range response.Kvs {
			object, err := decode(kv.Value, kv.ModRevision)
			if err != nil {
				klog.FromContext(ctx).V(2).Info("Passing over a value that is no object", "key", string(kv.Key), "reason", err)
				continue
			}
			all = append(all, object)
		}
		if len(response.Kvs) == 0 || int64(len(response.Kvs)) >= response.Count {
			break
		}
		options.Continue = string(response.Kvs[len(response.Kvs)-1].Key) + "\x00"
	}
	for _, handler := range handlers {
		handler.Replace(all)
	}
	return options.Revision, nil
}

// tail tells of changes from a revision on, until the watch breaks off.
func (r *Reader) tail(ctx context.Context, revision int64, handlers []Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for response := range r.client.Watch(ctx, r.prefix, clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(revision)) {
		if err := response.Err(); err != nil {
			return fmt.Errorf("watching %s: %w", r.prefix, err)
		}
		for _, event := range response.Events {
			if err := tell(event, handlers); err != nil {
				klog.FromContext(ctx).V(2).Info("Passing over a change of what is no object", "key", string(event.Kv.Key), "reason", err)
			}
		}
	}
	return ctx.Err()
}

func tell(event *clientv3.Event, handlers []Handler) error {
	value := event.Kv.Value
	deleted := event.Type == clientv3.EventTypeDelete
	if deleted {
		if event.PrevKv == nil {
			return fmt.Errorf("the value before the deletion is not known any more")
		}
		value = event.PrevKv.Value
	}
	object, err := decode(value, event.Kv.ModRevision)
	if err != nil {
		return err
	}
	for _, handler := range handlers {
		if deleted {
			handler.Delete(object)
		} else {
			handler.Update(object)
		}
	}
	return nil
}
