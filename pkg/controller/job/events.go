package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// eventQueue is how many events may wait to be written; more are dropped, as a slow API server must not hold up
	// Jobs.
	eventQueue = 1000
	// eventTries is how often an event is sent to a server that cannot be reached.
	eventTries = 12
	// eventPause is the time between two tries.
	eventPause = 10 * time.Second
	// eventDrain bounds the time for which events are still written after the controller was told to stop.
	eventDrain = 5 * time.Second
)

// event is something that users are told about a Job.
type event struct{ eventType, reason, message string }

// The events of a Job as a whole. Those of its pods are made where the pods are.
var (
	suspended   = event{corev1.EventTypeNormal, "Suspended", "Job suspended"}
	resumed     = event{corev1.EventTypeNormal, "Resumed", "Job resumed"}
	completed   = event{corev1.EventTypeNormal, "Completed", "Job completed"}
	tooMany     = event{corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached"}
	unknownMode = event{corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown"}
)

func podCreated(name string) event {
	return event{corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: " + name}
}

func podNotCreated(err error) event {
	return event{corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf("Error creating: %v", err)}
}

func podDeleted(name string) event {
	return event{corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: " + name}
}

func podNotDeleted(err error) event {
	return event{corev1.EventTypeWarning, "FailedDelete", fmt.Sprintf("Error deleting: %v", err)}
}

func workloadCreated(workload, job string) event {
	return event{corev1.EventTypeNormal, "WorkloadCreated", fmt.Sprintf("Created Workload %s for Job %s", workload, job)}
}

// finishEvents tells how a Job ended.
func finishEvents(job *batchv1.Job, o *outcome) []event {
	if !o.success {
		return []event{{corev1.EventTypeWarning, o.reason, o.message}}
	}
	if job.Spec.Completions != nil && job.Status.Succeeded > *job.Spec.Completions {
		return []event{tooMany, completed}
	}
	return []event{completed}
}

// eventWriter writes events in the order in which they come, one at a time, beside the syncs. It counts repeated events
// and gathers similar ones as every client-go controller does. It is its own, and not client-go's broadcaster, so that
// no goroutine of it outlives the controller and so that what happened before a stop is still told.
type eventWriter struct {
	client     corev1client.EventsGetter
	clock      clock.WithTicker
	correlator *record.EventCorrelator
	queue      chan *corev1.Event
	// lastName keeps the names of events apart, which are made of the time.
	mu       sync.Mutex
	lastName int64
}

func newEventWriter(client corev1client.EventsGetter, clock clock.WithTicker) *eventWriter {
	return &eventWriter{
		client:     client,
		clock:      clock,
		correlator: record.NewEventCorrelator(clock),
		queue:      make(chan *corev1.Event, eventQueue),
	}
}

// tell queues an event about job. It never blocks.
func (w *eventWriter) tell(ctx context.Context, job *batchv1.Job, e event) {
	now := metav1.Time{Time: w.clock.Now()}
	object := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: util.GenerateEventName(job.Name, w.stamp(now.Time))},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: jobKind.Kind,
			Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		},
		Type: e.eventType, Reason: e.reason, Message: e.message,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source:              corev1.EventSource{Component: component},
		ReportingController: component,
	}
	select {
	case w.queue <- object:
	default:
		klog.FromContext(ctx).Info("Dropping event, too many wait to be written", "job", klog.KObj(job), "reason", e.reason)
	}
}

// stamp returns the time in nanoseconds, or a little later where that is taken: a coarse clock, or one that stands
// still in a test, must not give two events one name.
func (w *eventWriter) stamp(now time.Time) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastName = max(now.UnixNano(), w.lastName+1)
	return w.lastName
}

// run writes events until stop is closed and then those that wait, for as long as the server can be reached.
func (w *eventWriter) run(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case e := <-w.queue:
			if answered := w.writeAll(ctx, stop, w.correlate(e)); !answered && isClosed(stop) {
				return
			}
		case <-stop:
			// Nothing else writes to the queue any more.
			for len(w.queue) > 0 && w.writeAll(ctx, stop, w.correlate(<-w.queue)) {
				continue
			}
			return
		}
	}
}

// correlate takes an event and those that wait behind it, and returns what is to be written. Of several writes that raise
// the count of one event the last is enough: it has them all.
func (w *eventWriter) correlate(e *corev1.Event) []*record.EventCorrelateResult {
	var results []*record.EventCorrelateResult
	raised := map[string]int{}
	for {
		result, err := w.correlator.EventCorrelate(e)
		if err == nil && !result.Skip {
			key := result.Event.Namespace + "/" + result.Event.Name
			if at, waits := raised[key]; waits && result.Event.Count > 1 {
				results[at] = result
			} else {
				results = append(results, result)
				if result.Event.Count > 1 {
					raised[key] = len(results) - 1
				}
			}
		}
		select {
		case e = <-w.queue:
		default:
			return results
		}
	}
}

// writeAll writes events and reports whether the server has answered.
func (w *eventWriter) writeAll(ctx context.Context, stop <-chan struct{}, results []*record.EventCorrelateResult) bool {
	for _, result := range results {
		if answered := w.write(ctx, stop, result); !answered && isClosed(stop) {
			return false
		}
	}
	return true
}

func isClosed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// write sends one event, several times if the server cannot be reached. It reports whether the server has answered.
func (w *eventWriter) write(ctx context.Context, stop <-chan struct{}, result *record.EventCorrelateResult) bool {
	var err error
	for try := 1; ; try++ {
		if err = w.send(ctx, result); err == nil {
			return true
		}
		if isRefusal(err) || try == eventTries || !w.pause(stop) {
			break
		}
	}
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		klog.FromContext(ctx).Error(err, "Writing event failed", "event", klog.KObj(result.Event), "reason", result.Event.Reason)
	}
	return isRefusal(err)
}

// pause waits before another try and reports whether there is to be one.
func (w *eventWriter) pause(stop <-chan struct{}) bool {
	timer := w.clock.NewTimer(eventPause)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-stop:
		return false
	}
}

// isRefusal reports whether err is an answer of the server, which would be the same next time.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// send writes one event: a new one, or a higher count for one that was written before.
func (w *eventWriter) send(ctx context.Context, result *record.EventCorrelateResult) error {
	e := result.Event
	events := w.client.Events(e.Namespace)
	var written *corev1.Event
	var err error
	if e.Count > 1 {
		written, err = events.Patch(ctx, e.Name, types.StrategicMergePatchType, result.Patch, unchecked())
	}
	if e.Count <= 1 || apierrors.IsNotFound(err) {
		e.ResourceVersion = ""
		written, err = events.Create(ctx, e, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing event %s/%s: %w", e.Namespace, e.Name, err)
	}
	w.correlator.UpdateState(written)
	return nil
}
