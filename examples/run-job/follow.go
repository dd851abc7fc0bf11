package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/generated/informers/externalversions"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// settle is how long observations of different kinds are held, so that they can be told in the order in which the
// server made them.
const settle = 5 * time.Millisecond

// follower watches everything on the cluster and tells what happens, a line each.
type follower struct {
	start time.Time
	out   io.Writer
	stop  func()

	arrived chan struct{} // has an element when there may be untold observations
	changed chan struct{} // has an element when finished may have changed

	mu         sync.Mutex
	untold     []observation
	finished   map[types.UID]bool         // Jobs and pods that have ended, or are gone
	jobs       map[types.UID]*batchv1.Job // each Job as it was seen last
	entries    []entry
	milestones map[types.UID]map[string]offset
	progress   map[types.UID]string // of each Job
}

// observation is what one watch event showed.
type observation struct {
	at       offset
	version  uint64
	object   string
	uid, job types.UID
	progress string // of the Job, when the event is about one
	changes  []change
}

// follow starts watching and returns once the first lists are there. The caller must call stop.
func follow(ctx context.Context, c *clients, start time.Time, out io.Writer) (*follower, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{
		start: start, out: out,
		arrived: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		finished: map[types.UID]bool{}, jobs: map[types.UID]*batchv1.Job{}, milestones: map[types.UID]map[string]offset{}, progress: map[types.UID]string{},
	}
	kube := informers.NewSharedInformerFactory(c.kube, 0)
	muster := externalversions.NewSharedInformerFactory(c.muster, 0)
	err := cmp.Or(
		watchKind(f, "Job", kube.Batch().V1().Jobs().Informer(), jobChanges),
		watchKind(f, "Pod", kube.Core().V1().Pods().Informer(), podChanges),
		watchKind(f, "Event", kube.Core().V1().Events().Informer(), eventChanges),
		watchKind(f, "Workload", muster.Scheduling().V1alpha2().Workloads().Informer(), workloadChanges),
		watchKind(f, "PodGroup", muster.Scheduling().V1alpha2().PodGroups().Informer(), podGroupChanges),
	)
	if err != nil {
		cancel()
		return nil, err
	}
	var telling sync.WaitGroup
	telling.Go(func() { f.tell(ctx) })
	kube.StartWithContext(ctx)
	muster.StartWithContext(ctx)
	f.stop = func() {
		cancel()
		kube.Shutdown()
		muster.Shutdown()
		telling.Wait()
	}
	kube.WaitForCacheSync(ctx.Done())
	muster.WaitForCacheSync(ctx.Done())
	return f, nil
}

// watchKind feeds the steps of a kind's objects to the follower.
func watchKind[T interface {
	comparable
	metav1.Object
}](f *follower, kind string, informer cache.SharedIndexInformer, steps func(old, object T) []change) error {
	observe := func(old, object T, deleted bool) {
		changes := []change{{what: "deleted"}}
		if !deleted {
			changes = steps(old, object)
		}
		if event, isEvent := any(object).(*corev1.Event); isEvent {
			if !deleted {
				f.observeEvent(event, changes)
			}
			return
		}
		f.observe(kind, object, changes, deleted)
	}
	var none T
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { observe(none, obj.(T), false) },
		UpdateFunc: func(old, obj any) { observe(old.(T), obj.(T), false) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if object, ok := obj.(T); ok {
				observe(none, object, true)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching %ss: %w", kind, err)
	}
	return nil
}

func (f *follower) observe(kind string, object metav1.Object, changes []change, ended bool) {
	o := observation{at: f.now(), version: version(object), object: name(kind, object), uid: object.GetUID(), job: owningJob(object), changes: changes}
	switch object := object.(type) {
	case *batchv1.Job:
		o.progress = progress(object)
		_, finished := batch.Finished(object)
		ended = ended || finished
		f.remember(object)
	case *corev1.Pod:
		ended = ended || core.PodFinished(object)
	}
	f.push(o, ended)
}

// remember keeps a Job, for the report on one that is deleted once it has ended.
func (f *follower) remember(job *batchv1.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.jobs[job.UID] = job
}

// lastSeen returns a Job as it was seen last, or nil.
func (f *follower) lastSeen(uid types.UID) *batchv1.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[uid]
}

// push hands an observation to the goroutine that tells; it never blocks an informer.
func (f *follower) push(o observation, ended bool) {
	f.mu.Lock()
	f.untold = append(f.untold, o)
	if ended {
		f.finished[o.uid] = true
	}
	f.mu.Unlock()
	wake(f.arrived)
	if ended {
		wake(f.changed)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// observeEvent tells a Kubernetes Event under the name of the object that it is about.
func (f *follower) observeEvent(event *corev1.Event, changes []change) {
	about := &metav1.ObjectMeta{Namespace: event.InvolvedObject.Namespace, Name: event.InvolvedObject.Name}
	f.push(observation{at: f.now(), version: version(event), object: name(event.InvolvedObject.Kind, about), job: event.InvolvedObject.UID, changes: changes}, false)
}

func (f *follower) now() offset { return offset(time.Since(f.start)) }

// version orders observations. Resource versions are compared only within one server, whose order they are.
func version(object metav1.Object) uint64 {
	n, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// tell prints what was seen until ctx ends, and then what is left.
func (f *follower) tell(ctx context.Context) {
	for {
		select {
		case <-f.arrived:
			time.Sleep(settle)
			f.tellInOrder()
		case <-ctx.Done():
			f.tellInOrder()
			return
		}
	}
}

func (f *follower) tellInOrder() {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortStableFunc(f.untold, func(a, b observation) int { return cmp.Compare(a.version, b.version) })
	for _, o := range f.untold {
		if o.progress != "" {
			f.progress[o.job] = o.progress
		}
		for _, c := range o.changes {
			e := entry{At: o.at, Object: o.object, What: c.what, Progress: f.progress[o.job]}
			f.entries = append(f.entries, e)
			f.note(o.uid, c.milestone, o.at)
			printEntry(f.out, e)
		}
	}
	f.untold = nil
}

func (f *follower) note(uid types.UID, milestone string, at offset) {
	if milestone == "" {
		return
	}
	if f.milestones[uid] == nil {
		f.milestones[uid] = map[string]offset{}
	}
	f.milestones[uid][milestone] = at
}

// wait returns when every Job and every pod of a manifest has ended, or ctx has.
func (f *follower) wait(ctx context.Context, made []*unstructured.Unstructured) {
	for !f.allFinished(made) {
		select {
		case <-f.changed:
		case <-ctx.Done():
			return
		}
	}
	// The last steps of other kinds may still be on their way.
	select {
	case <-time.After(4 * settle):
	case <-ctx.Done():
	}
}

func (f *follower) allFinished(made []*unstructured.Unstructured) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, object := range made {
		if runs(object) && !f.finished[object.GetUID()] {
			return false
		}
	}
	return true
}

// runs reports whether an object is one whose end the program waits for.
func runs(object *unstructured.Unstructured) bool {
	return object.GetKind() == "Job" || object.GetKind() == "Pod"
}

// timeline returns what was told so far.
func (f *follower) timeline() []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.entries)
}

// when returns the offsets of an object's milestones.
func (f *follower) when(uid types.UID) map[string]offset {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.milestones[uid]
}
