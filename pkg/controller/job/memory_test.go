package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestMemoryExpectsPods(t *testing.T) {
	clock := clocktesting.NewFakeClock(epoch)
	key := jobKey{cache.NewObjectName("ns", "j"), "a"}
	m := newMemory(clock, time.Minute)
	assert.True(t, m.settled(key), "nothing was expected")

	m.expectCreations(key, 2)
	m.creationObserved(key)
	assert.False(t, m.settled(key))
	m.creationObserved(key)
	assert.True(t, m.settled(key))

	m.expectDeletions(key, 1)
	assert.False(t, m.settled(key))
	m.expectCreations(key, 0)
	assert.True(t, m.settled(key), "what is expected last replaces the other")

	m.expectDeletions(key, 1)
	clock.Step(time.Minute)
	assert.False(t, m.settled(key))
	clock.Step(time.Second)
	assert.True(t, m.settled(key), "what does not come in time is not waited for")
}

func TestMemoryOfAJobIsNotInherited(t *testing.T) {
	old, again := jobKey{cache.NewObjectName("ns", "j"), "old"}, jobKey{cache.NewObjectName("ns", "j"), "new"}
	m := newMemory(clocktesting.NewFakeClock(epoch), time.Minute)
	m.expectCreations(old, 1)
	m.expectRemovals(old, []types.UID{"pod"})
	m.setBackoff(old, backoffRecord{failures: 3, last: epoch})
	m.setFinished(old)

	assert.True(t, m.settled(again))
	assert.Empty(t, m.awaited(again))
	assert.Zero(t, m.backoff(again))
	assert.False(t, m.hasFinished(again))
	m.creationObserved(again)
	assert.False(t, m.settled(old), "another Job's pods are not its own")

	m.forget(again)
	assert.True(t, m.hasFinished(old), "forgetting one leaves the other")
	m.forget(old)
	assert.False(t, m.hasFinished(old))
	assert.Empty(t, m.records)
}

func TestMemoryAwaitsFinalizers(t *testing.T) {
	key := jobKey{cache.NewObjectName("ns", "j"), "a"}
	m := newMemory(clocktesting.NewFakeClock(epoch), time.Minute)
	m.expectRemovals(key, []types.UID{"x", "y"})
	awaited := m.awaited(key)
	m.removalObserved(key, "x")
	assert.True(t, awaited.HasAll("x", "y"), "what was read does not change")
	assert.Equal(t, []types.UID{"y"}, m.awaited(key).UnsortedList())
}

// cacheAt is a cache that has come as far as a version.
type cacheAt string

func (c cacheAt) LastStoreSyncResourceVersion() string { return string(c) }

func TestCacheIsBehind(t *testing.T) {
	tests := map[string]struct {
		seen    cacheAt
		written string
		behind  bool
	}{
		"an older version":                 {"9", "10", true},
		"the same version":                 {"10", "10", false},
		"a later version":                  {"11", "10", false},
		"nothing written":                  {"11", "", false},
		"a cache that cannot tell":         {"", "10", false},
		"versions that cannot be compared": {"x", "10", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := isBehind(tc.seen, "pods", tc.written)
			if tc.behind {
				require.ErrorIs(t, err, errStale)
			} else {
				require.NoError(t, err)
			}
		})
	}
	assert.Equal(t, "10", laterVersion("10", "9"))
	assert.Equal(t, "10", laterVersion("9", "10"))
	assert.Equal(t, "9", laterVersion("", "9"))
}
