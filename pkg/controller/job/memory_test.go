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
	key := cache.NewObjectName("ns", "j")
	m := newMemory(clock, time.Minute)
	assert.True(t, m.settled(key, "a"), "nothing was expected")

	m.expectCreations(key, "a", 2)
	m.creationObserved(key, "a")
	assert.False(t, m.settled(key, "a"))
	m.creationObserved(key, "a")
	assert.True(t, m.settled(key, "a"))

	m.expectDeletions(key, "a", 1)
	assert.False(t, m.settled(key, "a"))
	m.expectCreations(key, "a", 0)
	assert.True(t, m.settled(key, "a"), "what is expected last replaces the other")

	m.expectDeletions(key, "a", 1)
	clock.Step(time.Minute)
	assert.False(t, m.settled(key, "a"))
	clock.Step(time.Second)
	assert.True(t, m.settled(key, "a"), "what does not come in time is not waited for")
}

func TestMemoryOfAJobIsNotInherited(t *testing.T) {
	key := cache.NewObjectName("ns", "j")
	m := newMemory(clocktesting.NewFakeClock(epoch), time.Minute)
	m.expectCreations(key, "old", 1)
	m.expectRemovals(key, "old", []types.UID{"pod"})
	m.setBackoff(key, "old", backoffRecord{failures: 3, last: epoch})
	m.setFinished(key, "old")

	assert.True(t, m.settled(key, "new"))
	assert.Empty(t, m.awaited(key, "new"))
	assert.Zero(t, m.backoff(key, "new"))
	assert.False(t, m.hasFinished(key, "new"))
	m.creationObserved(key, "new")
	assert.False(t, m.settled(key, "old"), "another Job's pods are not its own")

	m.forget(key, "new")
	assert.True(t, m.hasFinished(key, "old"), "forgetting one leaves the other")
	m.forget(key, "")
	assert.False(t, m.hasFinished(key, "old"))
	assert.Empty(t, m.records)
}

func TestMemoryAwaitsFinalizers(t *testing.T) {
	key := cache.NewObjectName("ns", "j")
	m := newMemory(clocktesting.NewFakeClock(epoch), time.Minute)
	m.expectRemovals(key, "a", []types.UID{"x", "y"})
	awaited := m.awaited(key, "a")
	m.removalObserved(key, "a", "x")
	assert.True(t, awaited.HasAll("x", "y"), "what was read does not change")
	assert.Equal(t, []types.UID{"y"}, m.awaited(key, "a").UnsortedList())
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
