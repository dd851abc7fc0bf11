package mvcc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// model says what a store must do, in the most simple-minded way: it keeps every event and the whole state of every
// revision, and never forgets anything.
type model struct {
	// states has the state of revision i at i.
	states []map[string]mvcc.KeyValue
	events []mvcc.Event
	// leases has the keys of each lease.
	leases map[mvcc.LeaseID]map[string]bool
}

func newModel() *model {
	return &model{states: []map[string]mvcc.KeyValue{{}, {}}, leases: map[mvcc.LeaseID]map[string]bool{}}
}

func (m *model) revision() int64 { return int64(len(m.states)) - 1 }

// revise makes the next revision out of changes to the present state, if there are any.
func (m *model) revise(change func(*revision)) int64 {
	r := &revision{model: m, number: m.revision() + 1, state: maps.Clone(m.states[m.revision()])}
	change(r)
	if len(r.events) > 0 {
		m.states = append(m.states, r.state)
		m.events = append(m.events, r.events...)
	}
	return m.revision()
}

type revision struct {
	*model
	number int64
	state  map[string]mvcc.KeyValue
	events []mvcc.Event
}

func (r *revision) put(key, value string, lease mvcc.LeaseID) {
	kv := mvcc.KeyValue{Key: key, Value: []byte(value), CreateRevision: r.number, ModRevision: r.number, Version: 1, Lease: lease}
	event := mvcc.Event{KV: &kv}
	if old, ok := r.state[key]; ok {
		kv.CreateRevision, kv.Version, event.Prev = old.CreateRevision, old.Version+1, &old
		delete(r.leases[old.Lease], key)
	}
	if lease != 0 {
		r.leases[lease][key] = true
	}
	r.state[key] = kv
	r.events = append(r.events, event)
}

func (r *revision) delete(span mvcc.Span) {
	for _, key := range slices.Sorted(maps.Keys(r.state)) {
		if !span.Contains(key) {
			continue
		}
		old := r.state[key]
		delete(r.leases[old.Lease], key)
		delete(r.state, key)
		r.events = append(r.events, mvcc.Event{KV: &mvcc.KeyValue{Key: key, ModRevision: r.number}, Prev: &old})
	}
}

// list reads a span of a revision that has come.
func (m *model) list(span mvcc.Span, opts mvcc.RangeOptions) ([]string, int64) {
	list, count := []string{}, int64(0)
	state := m.states[opts.Revision]
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if !span.Contains(key) {
			continue
		}
		count++
		if opts.CountOnly || opts.Limit > 0 && count > opts.Limit {
			continue
		}
		kv := state[key]
		if opts.KeysOnly {
			kv.Value = nil
		}
		list = append(list, show(&kv))
	}
	return list, count
}

// follower is a watcher under test, with what it has yet to hand out.
type follower struct {
	*mvcc.Watcher
	span mvcc.Span
	from int64
	// forgotten is the revision that was compacted when the watcher began: what its keys were before is not known.
	forgotten int64
	// taken is how many of the model's events the watcher has dealt with.
	taken int
}

// want returns what the watcher must hand out next.
func (f *follower) want(m *model) []string {
	var events []mvcc.Event
	for _, event := range m.events[f.taken:] {
		if event.KV.ModRevision < f.from || !f.span.Contains(event.KV.Key) {
			continue
		}
		if event.KV.ModRevision == f.forgotten {
			event.Prev = nil
		}
		events = append(events, event)
	}
	f.taken = len(m.events)
	return showEvents(events)
}

// trial compares a store with a model under random operations.
type trial struct {
	*testing.T
	*rand.Rand
	db        *mvcc.DB
	model     *model
	followers []*follower
}

func (t *trial) key() string {
	return []string{"a", "b", "b/1", "b/2", "b/3", "c/1", "c/2", "\xff"}[t.IntN(8)]
}

func (t *trial) span() mvcc.Span {
	switch t.IntN(4) {
	case 0:
		return mvcc.Single(t.key())
	case 1:
		return mvcc.Prefix([]string{"", "b", "b/", "c/", "\xff"}[t.IntN(5)])
	case 2:
		return mvcc.Span{Start: t.key(), End: t.key()}
	default:
		return mvcc.Span{Start: t.key()}
	}
}

// someRevision is any revision from before the first to beyond the last, mostly near the last.
func (t *trial) someRevision() int64 {
	if t.IntN(2) == 0 {
		return t.Int64N(t.model.revision() + 3)
	}
	return max(0, t.model.revision()-t.Int64N(8)+2)
}

// lease is any lease there is, or none.
func (t *trial) lease() mvcc.LeaseID {
	ids := append(slices.Sorted(maps.Keys(t.model.leases)), 0, 0)
	return ids[t.IntN(len(ids))]
}

// current is the present version of a key in the model, the zero KeyValue if there is none.
func (t *trial) current(key string) mvcc.KeyValue { return t.model.states[t.model.revision()][key] }

// expectation is the revision to expect in a conditional write: the right one or another.
func (t *trial) expectation(key string) (expect int64, right bool) {
	expect = t.current(key).ModRevision
	if t.IntN(3) == 0 {
		expect = t.someRevision()
	}
	return expect, expect == t.current(key).ModRevision
}

func (t *trial) write() {
	key, value, lease := t.key(), fmt.Sprint(t.IntN(1000)), t.lease()
	var got int64
	var err error
	want := t.model.revision()
	switch t.IntN(8) {
	case 0, 1:
		got, err = t.db.Put(key, []byte(value), lease)
		want = t.model.revise(func(r *revision) { r.put(key, value, lease) })
	case 2:
		expect, right := t.expectation(key)
		var outcome mvcc.Outcome
		outcome, err = t.db.PutIf(key, []byte(value), expect, lease)
		got = outcome.Revision
		require.Equal(t, right, outcome.Succeeded)
		if right {
			want = t.model.revise(func(r *revision) { r.put(key, value, lease) })
		}
	case 3:
		expect, right := t.expectation(key)
		var outcome mvcc.Outcome
		outcome, err = t.db.DeleteIf(key, expect)
		got = outcome.Revision
		require.Equal(t, right, outcome.Succeeded)
		if right {
			want = t.model.revise(func(r *revision) { r.delete(mvcc.Single(key)) })
		}
	case 4, 5:
		span := t.span()
		_, got, err = t.db.Delete(span)
		want = t.model.revise(func(r *revision) { r.delete(span) })
	default:
		got, err = t.transact(key, value, lease)
		want = t.model.revision()
	}
	require.NoError(t, err)
	require.Equal(t, want, got, "revision after the write")
}

// transact deletes a span and puts a key outside it, or else puts two keys.
func (t *trial) transact(key, value string, lease mvcc.LeaseID) (int64, error) {
	span := t.span()
	for span.Contains(key) {
		span = t.span()
	}
	expect, right := t.expectation(key)
	result, err := t.db.Txn(mvcc.Txn{
		If:   []mvcc.Compare{{Key: key, Target: mvcc.TargetModRevision, Number: expect}},
		Then: []mvcc.Op{mvcc.DeleteOp{Span: span}, mvcc.PutOp{Key: key, Value: []byte(value), Lease: lease}},
		Else: []mvcc.Op{mvcc.PutOp{Key: key, Value: []byte(value)}, mvcc.PutOp{Key: key + "+", Value: []byte(value)}},
	})
	require.Equal(t, right, result.Succeeded)
	t.model.revise(func(r *revision) {
		if right {
			r.delete(span)
			r.put(key, value, lease)
		} else {
			r.put(key, value, 0)
			r.put(key+"+", value, 0)
		}
	})
	return result.Revision, err
}

func (t *trial) changeLeases() {
	if id := t.lease(); id != 0 && t.IntN(2) == 0 {
		keys := slices.Sorted(maps.Keys(t.model.leases[id]))
		state, err := t.db.Lease(id)
		require.NoError(t, err)
		require.Equal(t, keys, state.Keys)
		got, err := t.db.Revoke(id)
		require.NoError(t, err)
		want := t.model.revise(func(r *revision) {
			for _, key := range keys {
				r.delete(mvcc.Single(key))
			}
		})
		delete(t.model.leases, id)
		require.Equal(t, want, got, "revision after a lease ended")
		return
	}
	if len(t.model.leases) < 4 {
		id, err := t.db.Grant(0, time.Hour)
		require.NoError(t, err)
		t.model.leases[id] = map[string]bool{}
	}
}

func (t *trial) compact() {
	rev, before := t.someRevision(), t.db.CompactRevision()
	err := t.db.Compact(rev)
	switch {
	case rev > t.model.revision():
		require.ErrorIs(t, err, mvcc.ErrFutureRevision)
	case rev <= before:
		require.ErrorIs(t, err, mvcc.ErrCompacted)
	default:
		require.NoError(t, err)
		require.Equal(t, rev, t.db.CompactRevision())
	}
}

func (t *trial) read() {
	span := t.span()
	opts := mvcc.RangeOptions{Revision: t.someRevision(), Limit: t.Int64N(5), KeysOnly: t.IntN(4) == 0, CountOnly: t.IntN(8) == 0}
	result, err := t.db.Range(span, opts)
	require.Equal(t, t.model.revision(), result.Revision)
	switch {
	case opts.Revision > t.model.revision():
		require.ErrorIs(t, err, mvcc.ErrFutureRevision)
		return
	case opts.Revision > 0 && opts.Revision < t.db.CompactRevision():
		require.ErrorIs(t, err, mvcc.ErrCompacted)
		return
	case opts.Revision == 0:
		opts.Revision = t.model.revision()
	}
	require.NoError(t, err)
	want, count := t.model.list(span, opts)
	require.Equal(t, want, showAll(result.KVs), "list of %+v at %d", span, opts.Revision)
	require.Equal(t, count, result.Count)
	require.Equal(t, !opts.CountOnly && int64(len(want)) < count, result.More)
	key := t.key()
	kv, _, err := t.db.Get(key, opts.Revision)
	require.NoError(t, err)
	wantKV, ok := t.model.states[opts.Revision][key]
	if require.Equal(t, ok, kv != nil); ok {
		require.Equal(t, show(&wantKV), show(kv))
	}
}

func (t *trial) follow() {
	span, from := t.span(), t.someRevision()
	w, err := t.db.Watch(span, from)
	if from > 0 && from < t.db.CompactRevision() {
		require.ErrorIs(t, err, mvcc.ErrCompacted)
		return
	}
	require.NoError(t, err)
	f := &follower{Watcher: w, span: span, from: from, forgotten: t.db.CompactRevision()}
	if from == 0 {
		f.from = t.model.revision() + 1
	}
	require.Equal(t, f.from, w.From())
	t.followers = append(t.followers, f)
}

// check takes what waits for a watcher, and perhaps ends it; following again resumes anywhere.
func (t *trial) check() {
	if len(t.followers) == 0 {
		return
	}
	i := t.IntN(len(t.followers))
	f := t.followers[i]
	events, seen, err := f.Take()
	require.NoError(t, err)
	require.Equal(t, f.want(t.model), showEvents(events), "events of %+v from %d", f.span, f.from)
	require.Equal(t, t.model.revision(), seen)
	if len(t.followers) > 20 || t.IntN(10) == 0 {
		f.Stop()
		t.followers = slices.Delete(t.followers, i, i+1)
	}
}

func TestRandomOperationsAgainstAModel(t *testing.T) {
	variants := map[string]mvcc.Options{
		"compacted by hand":           {KeepEvents: -1},
		"compacting itself":           {KeepEvents: 20},
		"compacting at every write":   {KeepEvents: 1},
		"compacted by age as by hand": {KeepEvents: -1, KeepFor: time.Nanosecond},
	}
	for name, opts := range variants {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				trial := &trial{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), db: newDB(t, opts), model: newModel()}
				for range 600 {
					switch trial.IntN(12) {
					case 0:
						trial.changeLeases()
					case 1:
						if trial.IntN(4) == 0 {
							trial.compact()
						}
					case 2, 3:
						trial.read()
					case 4:
						trial.follow()
					case 5, 6, 7:
						trial.check()
					default:
						trial.write()
					}
				}
			})
		}
	}
}
