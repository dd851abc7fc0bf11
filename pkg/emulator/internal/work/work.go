// Package work deals with keys, several at a time, again after an error, and never with the same one twice at once.
//
// [Queue] is the loop that every controller has round its work queue. It knows nothing of what a key means.
package work

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// minRetry is the delay before a key is dealt with again after an error; it doubles with each error in a row.
const minRetry = 5 * time.Millisecond

// Queue holds the keys to deal with.
type Queue[K comparable] struct {
	keys    workqueue.TypedRateLimitingInterface[K]
	process func(context.Context, K) error
}

// NewQueue returns a queue of keys for process. The delay after errors grows up to maxRetry.
func NewQueue[K comparable](maxRetry time.Duration, process func(context.Context, K) error) *Queue[K] {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[K](minRetry, maxRetry)
	return &Queue[K]{keys: workqueue.NewTypedRateLimitingQueue(limiter), process: process}
}

// Add puts keys into the queue. One that is in it already is not put in twice; one that is being dealt with is dealt
// with again afterwards.
func (q *Queue[K]) Add(keys ...K) {
	for _, key := range keys {
		q.keys.Add(key)
	}
}

// Run deals with keys, as many at a time as there are workers, until ctx ends; it returns when all workers have ended.
// A queue is run once.
func (q *Queue[K]) Run(ctx context.Context, workers int) {
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for q.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	q.keys.ShutDown()
	working.Wait()
}

// next deals with one key, and says whether to go on.
func (q *Queue[K]) next(ctx context.Context) bool {
	key, shutdown := q.keys.Get()
	if shutdown {
		return false
	}
	defer q.keys.Done(key)
	switch err := q.process(ctx, key); {
	case err == nil:
		q.keys.Forget(key)
	case ctx.Err() == nil:
		// Most errors are conflicts: an object has changed, and an event is about to tell so.
		klog.FromContext(ctx).V(4).Info("Will try again", "key", key, "reason", err)
		q.keys.AddRateLimited(key)
	}
	return true
}
