package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/generated/informers/externalversions"
)

// settle is how long observations of different kinds are held, so that they can be told in the order in which the
// server made them.
const settle = 5 * time.Millisecond

// follower watches everything on the cluster and tells what happens, a line each.
type follower struct {
	start time.Time
	out   io.Writer
	// stop ends the watching. What was seen is told before it returns, and nothing is told afterwards.
	stop func()

	arrived chan struct{} // has an element when there may be untold observations

	mu     sync.Mutex // of untold and newest; never held while anything is written
	untold []observation
	newest uint64 // version that was seen

	telling    sync.Mutex // of what follows
	told       chan struct{}
	world      *world
	entries    []entry
	record     *record
	milestones map[types.UID]map[string]offset
}

// observation is what one watch event showed.
type observation struct {
	at      offset
	version uint64
	object  metav1.Object
	deleted bool
	// initial says that the object was there before anything was watched, so that nothing has happened to it.
	initial bool
	// said is what the program itself did, in place of an object that changed.
	said *telling
}

// telling is a line of the timeline that the program has to tell of itself.
type telling struct {
	object, what string
	kind         life.Kind
	label        string
}

// follow starts watching and returns once the first lists are there. The caller must call stop, which alone ends it.
func follow(ctx context.Context, c *clients, start time.Time, out io.Writer) (*follower, error) {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := newFollower(start, out)
	kube := informers.NewSharedInformerFactory(c.kube, 0)
	muster := externalversions.NewSharedInformerFactory(c.muster, 0)
	err := cmp.Or(
		watchKind[*batchv1.Job](f, kube.Batch().V1().Jobs().Informer()),
		watchKind[*corev1.Pod](f, kube.Core().V1().Pods().Informer()),
		watchKind[*corev1.Node](f, kube.Core().V1().Nodes().Informer()),
		watchKind[*corev1.Event](f, kube.Core().V1().Events().Informer()),
		watchKind[*schedulingv1alpha2.Workload](f, muster.Scheduling().V1alpha2().Workloads().Informer()),
		watchKind[*schedulingv1alpha2.PodGroup](f, muster.Scheduling().V1alpha2().PodGroups().Informer()),
	)
	if err != nil {
		cancel()
		return nil, err
	}
	var parts sync.WaitGroup
	parts.Go(func() { f.tell(watching) })
	kube.StartWithContext(watching)
	muster.StartWithContext(watching)
	f.stop = sync.OnceFunc(func() {
		cancel()
		kube.Shutdown()
		muster.Shutdown()
		parts.Wait()
		f.tellInOrder()
	})
	kube.WaitForCacheSync(ctx.Done())
	muster.WaitForCacheSync(ctx.Done())
	return f, nil
}

func newFollower(start time.Time, out io.Writer) *follower {
	return &follower{
		start: start, out: out, arrived: make(chan struct{}, 1),
		told: make(chan struct{}), world: newWorld(), entries: []entry{}, record: newRecord(), milestones: map[types.UID]map[string]offset{},
	}
}

// watchKind feeds what is seen of a kind's objects to the follower.
func watchKind[T metav1.Object](f *follower, informer cache.SharedIndexInformer) error {
	push := func(obj any, deleted, initial bool) {
		if object, ok := obj.(T); ok {
			f.push(observation{at: offset(time.Since(f.start)), version: version(object), object: object, deleted: deleted, initial: initial})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { push(obj, false, initial) },
		UpdateFunc: func(_, obj any) { push(obj, false, false) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			push(obj, true, false)
		},
	})
	if err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	return nil
}

// say has the program's own doings told between what has been seen before and after.
func (f *follower) say(t telling) {
	f.mu.Lock()
	newest := f.newest
	f.mu.Unlock()
	f.push(observation{at: offset(time.Since(f.start)), version: newest, said: &t})
}

// push hands an observation to the goroutine that tells; it never blocks an informer.
func (f *follower) push(o observation) {
	f.mu.Lock()
	f.untold = append(f.untold, o)
	f.newest = max(f.newest, o.version)
	f.mu.Unlock()
	select {
	case f.arrived <- struct{}{}:
	default:
	}
}

// version orders observations. Resource versions are compared only within one server, whose order they are.
func version(object metav1.Object) uint64 {
	n, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// tell prints what was seen until ctx ends.
func (f *follower) tell(ctx context.Context) {
	for {
		select {
		case <-f.arrived:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
		f.tellInOrder()
	}
}

// tellInOrder tells what was seen, in the order in which the server made it.
func (f *follower) tellInOrder() {
	f.mu.Lock()
	seen := f.untold
	f.untold = nil
	f.mu.Unlock()

	f.telling.Lock()
	from := len(f.entries)
	var earliest offset
	if from > 0 {
		earliest = f.entries[from-1].At
	}
	for _, o := range inOrder(seen, earliest) {
		f.tellOne(o)
	}
	entries := slices.Clone(f.entries[from:])
	close(f.told)
	f.told = make(chan struct{})
	f.telling.Unlock()

	for _, e := range entries {
		printEntry(f.out, e)
	}
}

// inOrder sorts observations by version and makes their times agree: what the server did before something else was done
// by the time that the other was seen, and nothing is told to have happened before what was told already.
func inOrder(seen []observation, earliest offset) []observation {
	slices.SortStableFunc(seen, func(a, b observation) int { return cmp.Compare(a.version, b.version) })
	for i := len(seen) - 2; i >= 0; i-- {
		seen[i].at = min(seen[i].at, seen[i+1].at)
	}
	for i := range seen {
		seen[i].at = max(seen[i].at, earliest)
	}
	return seen
}

func (f *follower) tellOne(o observation) {
	if o.said != nil {
		f.entries = append(f.entries, entry{At: o.at, Object: o.said.object, What: o.said.what})
		f.record.mark(f.world, nil, o.at, change{what: joined(o.said.object, o.said.what), kind: o.said.kind, label: o.said.label})
		return
	}
	subject := subjectOf(o.object)
	changes := []change{{what: "deleted"}}
	if !o.deleted {
		changes = f.world.changes(o.object)
	}
	f.world.apply(o)
	f.record.observe(f.world, o)
	if _, isEvent := o.object.(*corev1.Event); o.initial || isEvent && o.deleted {
		return
	}
	progress := ""
	if pod := withUID[*corev1.Pod](f.world, subject.job); pod != nil {
		subject.job = owningJob(pod) // of an Event about a pod
	}
	if job := withUID[*batchv1.Job](f.world, subject.job); job != nil {
		progress = progressOf(job)
	}
	uid := o.object.GetUID()
	for _, c := range changes {
		what := c.what
		if began, waited := f.milestones[uid][milestoneWaiting]; waited && c.milestone == milestoneScheduled {
			what += fmt.Sprintf(", after waiting %s", o.at-began)
		}
		f.entries = append(f.entries, entry{At: o.at, Object: subject.name, What: what, Progress: progress})
		f.note(uid, c.milestone, o.at)
		f.record.mark(f.world, o.object, o.at, c)
	}
}

// note keeps when an object reached a milestone first.
func (f *follower) note(uid types.UID, milestone string, at offset) {
	if milestone == "" {
		return
	}
	if f.milestones[uid] == nil {
		f.milestones[uid] = map[string]offset{}
	}
	if _, reached := f.milestones[uid][milestone]; !reached {
		f.milestones[uid][milestone] = at
	}
}

// await returns once the world, as it was told, is as wanted, or ctx ends.
func (f *follower) await(ctx context.Context, wanted func(*world) bool) {
	for {
		f.telling.Lock()
		reached, told := wanted(f.world), f.told
		f.telling.Unlock()
		if reached {
			return
		}
		select {
		case <-told:
		case <-ctx.Done():
			return
		}
	}
}

// timeline returns what was told so far.
func (f *follower) timeline() []entry {
	f.telling.Lock()
	defer f.telling.Unlock()
	return append([]entry{}, f.entries...)
}

// when returns the offsets of an object's milestones.
func (f *follower) when(uid types.UID) map[string]offset {
	f.telling.Lock()
	defer f.telling.Unlock()
	return maps.Clone(f.milestones[uid])
}
