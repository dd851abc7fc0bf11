package work_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/work"
)

func TestKeyIsTriedAgainLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := clock.RealClock{}.Now()
		var at []time.Duration
		queue := work.NewQueue(20*time.Millisecond, func(context.Context, string) error {
			at = append(at, clock.RealClock{}.Since(start))
			if len(at) < 5 {
				return errors.New("not yet")
			}
			cancel()
			return nil
		})
		queue.Add("key", "key")
		queue.Run(ctx, 3)
		assert.Equal(t, []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 35 * time.Millisecond, 55 * time.Millisecond}, at)
	})
}

func TestKeyIsNeverDealtWithTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		busy, times := map[int]bool{}, map[int]int{}
		var queue *work.Queue[int]
		queue = work.NewQueue(time.Second, func(_ context.Context, key int) error {
			mu.Lock()
			assert.False(t, busy[key])
			busy[key] = true
			times[key]++
			again := times[key] < 3
			mu.Unlock()
			if again {
				queue.Add(key)
			}
			clock.RealClock{}.Sleep(time.Second)
			mu.Lock()
			busy[key] = false
			mu.Unlock()
			return nil
		})
		queue.Add(1, 2, 3)
		go func() {
			clock.RealClock{}.Sleep(time.Minute)
			cancel()
		}()
		queue.Run(ctx, 5)
		assert.Equal(t, map[int]int{1: 3, 2: 3, 3: 3}, times)
	})
}
