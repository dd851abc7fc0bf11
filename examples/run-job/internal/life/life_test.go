package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

func TestSpansFollowOneAnother(t *testing.T) {
	t.Parallel()
	var spans []life.Span
	for _, step := range []struct {
		state life.State
		at    time.Duration
	}{{life.Waiting, 1}, {life.Waiting, 2}, {life.Scheduled, 5}, {life.Running, 5}, {life.Succeeded, 9}} {
		spans = life.Enter(spans, step.state, step.at)
	}
	pod := life.Pod{Spans: life.Close(spans, 20)}
	assert.Equal(t, []life.Span{{life.Waiting, 1, 5}, {life.Running, 5, 9}, {life.Succeeded, 9, 20}}, pod.Spans)
	assert.Equal(t, life.Succeeded, pod.Last())
	for at, want := range map[time.Duration]life.State{1: life.Waiting, 4: life.Waiting, 5: life.Running, 30: life.Succeeded} {
		state, exists := pod.At(at)
		assert.True(t, exists)
		assert.Equal(t, want, state, at)
	}
	_, exists := pod.At(0)
	assert.False(t, exists)
}

func TestASpanThatHasJustBegunIsKept(t *testing.T) {
	t.Parallel()
	spans := life.Enter(life.Enter(nil, life.Running, 3), life.Failed, 7)
	assert.Equal(t, []life.Span{{life.Running, 3, 7}, {life.Failed, 7, 7}}, life.Close(spans, 7))
	assert.Empty(t, life.Close(nil, 7))
}

func TestCountsInWords(t *testing.T) {
	t.Parallel()
	pods := []life.Pod{{}, {Spans: []life.Span{{State: life.Failed}}}, {Spans: []life.Span{{State: life.Failed}}}}
	assert.Equal(t, "1 waiting, 2 failed", life.Count(pods).String())
	assert.Equal(t, "state 99", life.State(99).String())
	assert.True(t, life.Gone.Ended())
	assert.False(t, life.Lost.Ended())
}
