package expect

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
)

// Limit is how long [Eventually] waits.
const Limit = time.Minute

// Object is what a typed client is for: a pointer to an API type, such as *batchv1.Job.
type Object interface {
	metav1.Object
	runtime.Object
}

// Client gets and watches objects of one type, and of one namespace if they are in namespaces. The typed clients that
// client-gen makes do.
type Client[T Object] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// Eventually waits, for [Limit] at most, until an object meets a condition, and returns it as it then is, or nil if it is
// gone. If that does not come to pass it fails the test, and shows the object as it was last seen.
func Eventually[T Object](tb testing.TB, client Client[T], name string, condition Condition[T]) T {
	tb.Helper()
	return Within(tb, Limit, client, name, condition)
}

// Within does what [Eventually] does, with another limit.
func Within[T Object](tb testing.TB, limit time.Duration, client Client[T], name string, condition Condition[T]) T {
	tb.Helper()
	ctx, cancel := context.WithTimeoutCause(tb.Context(), limit, errLimit)
	defer cancel()
	wait := waiting[T]{client: client, name: name, condition: condition}
	for {
		held, err := wait.once(ctx)
		switch {
		case held:
			return wait.object
		case errors.Is(context.Cause(ctx), errLimit):
			tb.Fatalf("waiting for %s: within %v it did not come to %s.\n%s", name, limit, condition, wait.seen())
		case ctx.Err() != nil:
			tb.Fatalf("waiting for %s to %s: the test is over.\n%s", name, condition, wait.seen())
		case err != nil && !passing(err):
			tb.Fatalf("waiting for %s to %s: %v", name, condition, err)
		case err != nil:
			pause(ctx)
		}
	}
}

var errLimit = errors.New("the limit is reached")

// waiting is one wait with what it has seen.
type waiting[T Object] struct {
	client    Client[T]
	name      string
	condition Condition[T]

	object T
	exists bool
	// deleted is the object as it was when it was deleted, if it was.
	deleted runtime.Object
}

// once gets the object and watches it from there on, until the condition holds or the watch ends. A watch that ends is no
// error: servers end them when they like, and when what they were to begin at is forgotten.
func (w *waiting[T]) once(ctx context.Context) (held bool, err error) {
	object, err := w.client.Get(ctx, w.name, metav1.GetOptions{})
	// What an absent object is watched from is not known: the watch begins with all that there is.
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, w.name).String()}
	switch {
	case apierrors.IsNotFound(err):
		w.lose()
	case err != nil:
		return false, err
	default:
		w.object, w.exists = object, true
		options.ResourceVersion = object.GetResourceVersion()
	}
	if w.condition.Holds(w.object, w.exists) {
		return true, nil
	}
	changes, err := w.client.Watch(ctx, options)
	if err != nil {
		return false, err
	}
	defer changes.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case change, open := <-changes.ResultChan():
			if !open || !w.take(change) {
				return false, nil
			}
			if w.condition.Holds(w.object, w.exists) {
				return true, nil
			}
		}
	}
}

// take notes a change, and returns false if it is the end of the watch.
func (w *waiting[T]) take(change watch.Event) bool {
	object, ok := change.Object.(T)
	switch {
	case !ok: // a Status, in the first place
		return false
	case change.Type == watch.Deleted:
		w.object = object
		w.lose()
	case change.Type != watch.Bookmark:
		w.object, w.exists = object, true
	}
	return true
}

// lose notes that there is no object any more.
func (w *waiting[T]) lose() {
	if !isNil(w.object) {
		w.deleted = w.object
	}
	var none T
	w.object, w.exists = none, false
}

// passing tells whether an error is of the kind that another attempt may not meet.
func passing(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// pause waits a little between attempts that failed.
func pause(ctx context.Context) {
	timer := clock.RealClock{}.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// seen says what was last seen of the object.
func (w *waiting[T]) seen() string {
	switch {
	case w.exists:
		return "It was last seen as\n\n" + Text(w.object)
	case w.deleted != nil:
		return "It has been deleted, as\n\n" + Text(w.deleted)
	}
	return fmt.Sprintf("There was no %s.", w.name)
}
