package progress_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/examples/run-job/internal/progress"
)

// screen is a terminal without a size. It knows what is written to it here: lines, the cursor going up, and erasing from
// there on.
type screen struct {
	mu      sync.Mutex
	lines   []string
	at      int
	started chan struct{} // closed once something was drawn over
	once    sync.Once
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := string(text); rest != ""; {
		if found := sequence.FindStringSubmatch(rest); found != nil {
			rest = rest[len(found[0]):]
			switch n, _ := strconv.Atoi(found[1]); found[2] {
			case "A":
				s.at -= max(1, n)
				s.once.Do(func() { close(s.started) })
			case "J":
				s.lines = s.lines[:min(len(s.lines), max(0, s.at))]
			case "m":
			default:
				return 0, fmt.Errorf("the sequence %q is not known", found[0])
			}
			continue
		}
		for len(s.lines) <= s.at {
			s.lines = append(s.lines, "")
		}
		switch letter := rest[:1]; letter {
		case "\n":
			s.at++
		case "\r":
		default:
			s.lines[s.at] += letter
		}
		rest = rest[1:]
	}
	return len(text), nil
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(strings.Join(s.lines, "\n"), "\n")
}

func TestAFrameStandsBelowWhatIsPrintedAndGoesInTheEnd(t *testing.T) {
	t.Parallel()
	out := &screen{started: make(chan struct{})}
	var mu sync.Mutex
	state := progress.State{Jobs: []progress.Job{{Name: "job a", Total: 2, Cells: cells(2, life.Waiting)}}}
	live, err := progress.Start(out, progress.Style{ASCII: true}, func() progress.State {
		mu.Lock()
		defer mu.Unlock()
		return state
	})
	require.NoError(t, err)
	fmt.Fprintln(live, "first")
	<-out.started
	fmt.Fprintln(live, "second")
	shows := func(want string) {
		t.Helper()
		assert.Eventually(t, func() bool { return out.text() == want }, 20*time.Second, 10*time.Millisecond, "%q", out.text())
	}
	shows("first\nsecond\n0s\njob a ........................ 0/2  2 waiting\n  oo")

	mu.Lock()
	state.Jobs[0].Cells, state.Jobs[0].Done = cells(1, life.Running, 1, life.Succeeded), 1
	state.Jobs = append(state.Jobs, progress.Job{Name: "job b", Ended: "Complete", Total: 1, Done: 1})
	mu.Unlock()
	shows("first\nsecond\n0s  1 of 2 ended\njob a ############============ 1/2  1 running, 1 succeeded\n  #+\njob b ######################## 1/1 Complete")

	fmt.Fprintln(live, "third")
	live.Stop()
	assert.Equal(t, "first\nsecond\nthird", out.text(), "the frame is gone")
	fmt.Fprintln(live, "fourth")
	assert.Equal(t, "first\nsecond\nthird\nfourth", out.text())
	assert.False(t, progress.IsTerminal(&bytes.Buffer{}))
}
