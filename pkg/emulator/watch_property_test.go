package emulator_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/musterkube/muster/pkg/emulator"
)

const (
	// lastName is the config map that is written after all others.
	lastName = "zz-last"
	// lastNumber is that of the writes after which a watcher needs to know no more.
	lastNumber = "last"
)

// TestEveryWatcherSeesEachEventOnceAndInOrder has several clients write config maps of their own, ten thousand times in
// all, while others list them and watch them with selectors, break off, and resume where they were or at any version
// before, and while history is compacted. What each was told is then compared to what was written.
//
// The goroutines make the run another one each time, with the same seed too.
func TestEveryWatcherSeesEachEventOnceAndInOrder(t *testing.T) {
	const writers, watchers = 8, 12
	for seed, writes := range map[uint64]int{1: 10_000, rand.Uint64(): 1000} {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			server := start(t, emulator.Options{History: emulator.History{Events: 1000}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &run{client: kube(t, protobuf(server.Config())).CoreV1().ConfigMaps("default"), done: ctx.Done()}
			r.progress.L = &r.mu

			witness := &watcher{run: r, selected: everything(), random: rand.New(rand.NewPCG(seed, 0)), faithful: true}
			all := []*watcher{witness}
			for i := range watchers {
				choice := selections(fmt.Sprintf("w%d-%d", i%writers, 0))
				all = append(all, &watcher{run: r, selected: choice[i%len(choice)], random: rand.New(rand.NewPCG(seed, uint64(1000+i))), idle: i < 2})
			}
			list, err := r.client.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			witness.seen = versionOf(t, list.ResourceVersion)

			var watching, writing sync.WaitGroup
			for i, w := range all {
				watching.Go(func() {
					if !assert.NoError(t, w.work(ctx), "watcher %d", i) {
						r.release() // nobody is to wait for it
					}
				})
			}
			done := make([][]change, writers)
			for i := range writers {
				writing.Go(func() {
					var err error
					done[i], err = r.write(ctx, i, writes/writers, rand.New(rand.NewPCG(seed, uint64(2000+i))))
					assert.NoError(t, err, "writer %d", i)
				})
			}
			compacting, stopCompacting := context.WithCancel(ctx)
			watching.Go(func() {
				random := rand.New(rand.NewPCG(seed, 3000))
				for r.wait(200+random.IntN(800)) && compacting.Err() == nil {
					assert.NoError(t, server.Compact(ctx))
				}
			})
			writing.Wait()
			last, err := r.finish(ctx, writers)
			require.NoError(t, err)
			stopCompacting()
			r.release()
			watching.Wait()

			require.Len(t, witness.traces, 1)
			happened, err := newHistory(slices.Concat(done, [][]change{last}), witness.traces[0].events)
			require.NoError(t, err)
			traces, expired := 0, 0
			for i, w := range all {
				for _, trace := range w.traces {
					require.NoError(t, happened.check(trace), "watcher %d", i)
				}
				traces += len(w.traces)
				expired += w.expired
			}
			t.Logf("%d changes, %d watches and lists, %d of them told 410 Gone", len(happened), traces, expired)
			if writes > 1000 {
				assert.Positive(t, expired, "no watch ever met a compaction")
			}
		})
	}
}

// run is what the goroutines of one run share.
type run struct {
	client typedcorev1.ConfigMapInterface
	done   <-chan struct{}

	mu       sync.Mutex
	progress sync.Cond
	versions []int64 // of writes, as they were answered
	ahead    int     // by how many changes the writers are ahead of the faithful watcher
	finished bool
}

// mostAhead is by how many changes the writers may be ahead of the faithful watcher, which would be cut off if it fell
// behind by more than what the server remembers.
const mostAhead = 500

// keepStep waits until the faithful watcher is not far behind.
func (r *run) keepStep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.ahead > mostAhead && !r.finished {
		r.progress.Wait()
	}
}

// advance notes a change, or, with -1, that the faithful watcher was told of one.
func (r *run) advance(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead += by
	r.progress.Broadcast()
}

// wrote notes a write.
func (r *run) wrote(version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = append(r.versions, version)
	r.progress.Broadcast()
}

// release has nobody wait any longer.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	r.progress.Broadcast()
}

// wait waits for so many writes, and says whether there may be more.
func (r *run) wait(writes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for until := len(r.versions) + writes; len(r.versions) < until && !r.finished; {
		r.progress.Wait()
	}
	return !r.finished
}

// anyVersion returns the version of any write of late, 0 if there was none.
func (r *run) anyVersion(random *rand.Rand) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := r.versions[max(0, len(r.versions)-500):]
	if len(recent) == 0 {
		return 0
	}
	return recent[random.IntN(len(recent))]
}

// write makes, changes and deletes config maps that nobody else writes to, and returns what it did.
func (r *run) write(ctx context.Context, writer, count int, random *rand.Rand) ([]change, error) {
	var changes []change
	present := map[string]*corev1.ConfigMap{}
	for len(changes) < count {
		r.keepStep()
		name := fmt.Sprintf("w%d-%d", writer, random.IntN(8))
		object := present[name]
		if object != nil && random.IntN(4) == 0 {
			if err := r.client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return changes, err
			}
			delete(present, name)
			changes = append(changes, change{Name: name, Type: watch.Deleted, Label: object.Labels["v"], Number: object.Data["number"]})
			r.advance(1)
			continue
		}
		next := makeConfigMap(name)
		next.Labels = map[string]string{"v": strconv.Itoa(random.IntN(4))}
		next.Data["number"] = fmt.Sprintf("%d.%d", writer, len(changes))
		if object != nil && random.IntN(10) == 0 {
			next.Labels, next.Data = object.Labels, object.Data // no change at all
		}
		made, err := r.put(ctx, object, next)
		if err != nil {
			return changes, err
		}
		present[name] = made.object
		if made.changed {
			changes = append(changes, made.change)
			r.advance(1)
		}
	}
	return changes, nil
}

// putting is what came of a put.
type putting struct {
	object  *corev1.ConfigMap
	change  change
	changed bool
}

// put makes a config map, or changes the one that there is.
func (r *run) put(ctx context.Context, old, next *corev1.ConfigMap) (putting, error) {
	kind := watch.Added
	var object *corev1.ConfigMap
	var err error
	if old == nil {
		object, err = r.client.Create(ctx, next, metav1.CreateOptions{})
	} else {
		kind = watch.Modified
		next.ResourceVersion = old.ResourceVersion
		object, err = r.client.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err != nil {
		return putting{}, err
	}
	made, err := changeTo(kind, object)
	r.wrote(made.Version)
	return putting{object: object, change: made, changed: old == nil || old.ResourceVersion != object.ResourceVersion}, err
}

// finish writes what ends every watcher, something for each selection, and the last of all. The writers have ended.
func (r *run) finish(ctx context.Context, writers int) ([]change, error) {
	labels := map[string]string{"zz-0": "0", lastName: "1"}
	for i := range writers {
		labels[fmt.Sprintf("w%d-0", i)] = "1"
	}
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		old, err := r.client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			old = nil
		} else if err != nil {
			return changes, err
		}
		object := makeConfigMap(name)
		object.Labels = map[string]string{"v": labels[name]}
		object.Data["number"] = lastNumber
		made, err := r.put(ctx, old, object)
		if err != nil {
			return changes, err
		}
		changes = append(changes, made.change)
	}
	return changes, nil
}

// watcher lists and watches again and again.
type watcher struct {
	*run

	selected selection
	random   *rand.Rand
	// faithful is a watcher that never breaks off.
	faithful bool
	// idle is a watcher that only lists.
	idle bool
	// seen is the version that the next watch is to begin after; 0 to list first.
	seen    int64
	traces  []trace
	expired int
}

// work watches until it was told of a last write.
func (w *watcher) work(ctx context.Context) error {
	for {
		t := trace{selected: w.selected}
		done, err := w.begin(ctx, &t)
		if err == nil && !done && !w.idle {
			done, err = w.watch(ctx, &t)
		}
		w.traces = append(w.traces, t)
		if done || err != nil {
			return err
		}
		switch {
		case w.idle:
			w.wait(1 + w.random.IntN(20))
		case w.random.IntN(8) == 0:
			w.wait(w.random.IntN(200))
		}
	}
}

func (w *watcher) options() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: w.selected.labels, FieldSelector: w.selected.fields}
}

// begin decides from which version to watch: that of a list, the last one seen, or any. A watch list begins by itself.
func (w *watcher) begin(ctx context.Context, t *trace) (done bool, err error) {
	choice := w.random.IntN(8)
	switch {
	case w.idle:
	case w.faithful || w.seen != 0 && choice > 2:
		t.from = w.seen
		return false, nil
	case w.seen != 0 && choice > 0 && w.anyVersion(w.random) != 0:
		t.from = min(w.anyVersion(w.random), w.seen) // what comes after may be after the last event for this watcher
		return false, nil
	}
	options := w.options()
	at := w.anyVersion(w.random)
	if w.random.IntN(2) == 0 && at != 0 {
		options.ResourceVersion, options.ResourceVersionMatch = strconv.FormatInt(at, 10), metav1.ResourceVersionMatchExact
	}
	list, err := w.client.List(ctx, options)
	if options.ResourceVersion != "" && apierrors.IsResourceExpired(err) {
		w.expired++
		options.ResourceVersion, options.ResourceVersionMatch = "", ""
		list, err = w.client.List(ctx, options)
	}
	if err != nil {
		return false, err
	}
	t.isListed, t.listed = true, []change{}
	for i := range list.Items {
		c, err := changeTo(watch.Added, &list.Items[i])
		if err != nil {
			return false, err
		}
		t.listed = append(t.listed, c)
		done = done || c.Number == lastNumber
	}
	t.from, err = strconv.ParseInt(list.ResourceVersion, 10, 64)
	w.seen = t.from
	return done, err
}

// watch watches from the trace's version for some events, and says whether there are no more to come.
func (w *watcher) watch(ctx context.Context, t *trace) (done bool, err error) {
	options := w.options()
	options.ResourceVersion = strconv.FormatInt(t.from, 10)
	watching, err := w.client.Watch(ctx, options)
	if err != nil {
		return false, err
	}
	defer watching.Stop()
	for count := w.random.IntN(60); w.faithful || len(t.events) < count; {
		var event watch.Event
		select {
		case event = <-watching.ResultChan():
		case <-w.done:
			return false, context.Cause(ctx)
		}
		object, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			err := apierrors.FromObject(event.Object)
			if !apierrors.IsResourceExpired(err) || w.faithful {
				return false, fmt.Errorf("%v, after %d events: %w", t, len(t.events), err)
			}
			w.seen = 0
			w.expired++
			return false, nil
		}
		c, err := changeTo(event.Type, object)
		if err != nil {
			return false, err
		}
		t.events = append(t.events, c)
		w.seen = c.Version
		if w.faithful {
			w.advance(-1)
		}
		if c.Name == lastName || c.Number == lastNumber && !w.faithful {
			return true, nil
		}
	}
	return false, nil
}
