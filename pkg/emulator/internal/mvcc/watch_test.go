package mvcc_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestWatchReplaysFromARevision(t *testing.T) {
	all := []string{
		"PUT a=1@2(2,1) was -",
		"PUT b=1@3(3,1) was -",
		"PUT c=1@4(4,1) was -",
		"PUT a=2@5(2,2) was a=1@2(2,1)",
		"DELETE b@6 was b=1@3(3,1)",
		"PUT b=2@7(7,1) was -",
		"PUT d=1@8(8,1) was -",
		"DELETE a@9 was a=2@5(2,2)",
	}
	tests := map[string]struct {
		span mvcc.Span
		from int64
		want []string
	}{
		"everything from the beginning": {from: 1, want: all},
		"everything from a write on":    {from: 5, want: all[3:]},
		"from the next revision":        {from: 9, want: all[7:]},
		"from now":                      {from: 0, want: all[7:]},
		"one key":                       {span: mvcc.Single("b"), from: 1, want: []string{all[1], all[4], all[5]}},
		"a span":                        {span: mvcc.Span{Start: "b", End: "d"}, from: 4, want: []string{all[2], all[4], all[5]}},
		"a revision yet to come":        {from: 10, want: []string{}},
		"keys that never were":          {span: mvcc.Prefix("x"), from: 1, want: []string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			db := history(t)
			w, err := db.Watch(tc.span, tc.from)
			require.NoError(t, err)
			defer w.Stop()
			got := take(t, w)
			remove(t, db, "a")
			assert.Equal(t, tc.want, append(got, take(t, w)...))
		})
	}
}

func TestWatchOfTheFutureWaitsForIt(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	w, err := db.Watch(mvcc.Span{}, 4)
	require.NoError(t, err)
	assert.EqualValues(t, 4, w.From())
	put(t, db, "a=1", "a=2")
	assert.Empty(t, take(t, w))
	put(t, db, "a=3", "a=4")
	assert.Equal(t, []string{"PUT a=3@4(2,3) was a=2@3(2,2)", "PUT a=4@5(2,4) was a=3@4(2,3)"}, take(t, w))
}

func TestWatchOfTheCompactedPast(t *testing.T) {
	db := history(t)
	require.NoError(t, db.Compact(5))
	_, err := db.Watch(mvcc.Span{}, 4)
	require.ErrorIs(t, err, mvcc.ErrCompacted)
	_, err = db.Watch(mvcc.Prefix("x"), 1)
	require.ErrorIs(t, err, mvcc.ErrCompacted, "even of keys that never were")

	w, err := db.Watch(mvcc.Span{}, 5)
	require.NoError(t, err, "the compacted revision itself")
	events, _, err := w.Take()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"PUT a=2@5(2,2) was -", "DELETE b@6 was b=1@3(3,1)", "PUT b=2@7(7,1) was -", "PUT d=1@8(8,1) was -",
	}, showEvents(events))
	assert.True(t, events[0].PrevForgotten(), "what a was is forgotten")
	for _, event := range events[1:] {
		assert.False(t, event.PrevForgotten(), event.KV.Key)
	}
}

func TestCompactionOfADeletionForgetsWhatWasDeleted(t *testing.T) {
	db := history(t)
	require.NoError(t, db.Compact(6))
	w, err := db.Watch(mvcc.Single("b"), 6)
	require.NoError(t, err)
	events, _, err := w.Take()
	require.NoError(t, err)
	assert.Equal(t, []string{"DELETE b@6 was -", "PUT b=2@7(7,1) was -"}, showEvents(events))
	assert.True(t, events[0].PrevForgotten())
	assert.False(t, events[1].PrevForgotten())
}

func TestCompactionTakesNothingFromAWatcherThatRuns(t *testing.T) {
	db := newDB(t, mvcc.Options{KeepEvents: 1})
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	put(t, db, "a=1", "a=2", "b=1", "a=3")
	remove(t, db, "a")
	require.Equal(t, db.Revision(), db.CompactRevision(), "the history is as short as can be")
	assert.Equal(t, []string{
		"PUT a=1@2(2,1) was -", "PUT a=2@3(2,2) was a=1@2(2,1)", "PUT b=1@4(4,1) was -",
		"PUT a=3@5(2,3) was a=2@3(2,2)", "DELETE a@6 was a=3@5(2,3)",
	}, take(t, w))
}

func TestTakeTellsHowFarTheWatcherHasSeen(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	w, err := db.Watch(mvcc.Single("a"), 0)
	require.NoError(t, err)
	for _, write := range []string{"a=1", "b=1", "b=2", "a=2"} {
		rev := put(t, db, write)
		_, seen, err := w.Take()
		require.NoError(t, err)
		assert.Equal(t, rev, seen, "after %s", write)
	}
}

func TestAWatcherThatFallsBehindIsCutOff(t *testing.T) {
	db := newDB(t, mvcc.Options{MaxPending: 3})
	put(t, db, "a=1", "a=2", "a=3", "a=4", "a=5")
	slow, err := db.Watch(mvcc.Span{}, 1)
	require.NoError(t, err)
	other, err := db.Watch(mvcc.Prefix("b"), 0)
	require.NoError(t, err)
	put(t, db, "a=6", "a=7", "a=8")
	select {
	case <-slow.Done():
		require.Fail(t, "cut off for events of the past, which it could not have taken sooner")
	default:
	}
	put(t, db, "a=9")
	<-slow.Done()
	<-slow.Ready()
	for range 2 {
		events, _, err := slow.Take()
		require.ErrorIs(t, err, mvcc.ErrWatcherTooSlow)
		assert.Empty(t, events)
	}
	_, err = slow.Next(t.Context())
	require.ErrorIs(t, err, mvcc.ErrWatcherTooSlow)
	slow.Stop()
	_, _, err = slow.Take()
	require.ErrorIs(t, err, mvcc.ErrWatcherTooSlow, "the first reason stays")

	put(t, db, "b=1", "b=2", "b=3")
	assert.Len(t, take(t, other), 3, "events of a watcher that kept up")
	fast, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	for range 10 {
		put(t, db, "a=x", "a=y", "a=z")
		assert.Len(t, take(t, fast), 3)
	}
}

func TestWithoutALimitNoWatcherIsCutOff(t *testing.T) {
	db := newDB(t, mvcc.Options{MaxPending: -1})
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	for range mvcc.DefaultMaxPending + 1 {
		_, err := db.Put("a", nil, 0)
		require.NoError(t, err)
	}
	assert.Len(t, take(t, w), mvcc.DefaultMaxPending+1)
}

func TestStopEndsAWatcher(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	var watchers []*mvcc.Watcher
	for range 4 {
		w, err := db.Watch(mvcc.Span{}, 0)
		require.NoError(t, err)
		watchers = append(watchers, w)
	}
	// From the middle, the end and the beginning: the others must go on.
	for _, i := range []int{1, 3, 0} {
		watchers[i].Stop()
		watchers[i].Stop()
		<-watchers[i].Done()
		put(t, db, "a=1")
		_, _, err := watchers[i].Take()
		require.ErrorIs(t, err, mvcc.ErrWatcherStopped)
	}
	assert.Len(t, take(t, watchers[2]), 3)
}

func TestCloseEndsWatchers(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	var watchers []*mvcc.Watcher
	for range 3 {
		w, err := db.Watch(mvcc.Span{}, 0)
		require.NoError(t, err)
		watchers = append(watchers, w)
	}
	put(t, db, "a=1")
	db.Close()
	for _, w := range watchers {
		<-w.Done()
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, mvcc.ErrClosed)
		w.Stop()
	}
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		w, err := db.Watch(mvcc.Prefix("a"), 0)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		type result struct {
			events []mvcc.Event
			err    error
		}
		results := make(chan result, 1)
		next := func() {
			events, err := w.Next(ctx)
			results <- result{events, err}
		}
		go next()
		put(t, db, "b=1")
		synctest.Wait()
		assert.Empty(t, results, "results while there are no events of its keys")
		put(t, db, "a=1")
		got := <-results
		require.NoError(t, got.err)
		assert.Equal(t, []string{"PUT a=1@3(3,1) was -"}, showEvents(got.events))

		// A token whose events were taken otherwise is not mistaken for an event.
		put(t, db, "a=2")
		take(t, w)
		go next()
		synctest.Wait()
		assert.Empty(t, results, "results after the events were taken")
		cancel()
		got = <-results
		require.ErrorIs(t, got.err, context.Canceled)
	})
}
