package progress_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/examples/run-job/internal/progress"
)

//nolint:gochecknoglobals // a flag of the test
var update = flag.Bool("update", false, "write the frames in testdata anew")

func cells(counts ...any) (list []life.State) {
	for i := 0; i < len(counts); i += 2 {
		for range counts[i].(int) {
			list = append(list, counts[i+1].(life.State))
		}
	}
	return list
}

func aGang() progress.State {
	return progress.State{Elapsed: 12345 * time.Millisecond, Jobs: []progress.Job{{
		Name: "job default/training", Done: 2, Total: 8,
		Cells: []life.State{life.Succeeded, life.Succeeded, life.Running, life.Running, life.Failed, life.Lost, life.Terminating, life.Gone},
	}}, NotReady: []string{"node-1"}}
}

func aCrowd() progress.State {
	s := progress.State{Elapsed: 83 * time.Second}
	for i := range 30 {
		job := progress.Job{Name: fmt.Sprintf("job default/a-job-with-a-long-name-%d", i), Total: 10, Cells: cells(10, life.Waiting)}
		switch {
		case i%3 == 0:
			job.Done, job.Ended, job.Cells = 10, "Complete", cells(10, life.Succeeded)
		case i%7 == 0:
			job.Done, job.Ended, job.Failed, job.Cells = 4, "Failed", true, cells(4, life.Succeeded, 1, life.Failed)
		case i%2 == 0:
			job.Done, job.Cells = 3, cells(3, life.Succeeded, 7, life.Running)
		}
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

func states() map[string]progress.State {
	thousands := progress.Job{Name: "job default/wide", Done: 2000, Total: 10000, Cells: cells(2000, life.Succeeded, 500, life.Running, 40, life.Failed, 1500, life.Waiting, 5960, life.Gone)}
	return map[string]progress.State{
		"nothing yet":     {},
		"a gang":          aGang(),
		"a work queue":    {Elapsed: time.Second, Jobs: []progress.Job{{Name: "job default/queue", Done: 3, Cells: cells(3, life.Succeeded, 2, life.Running)}}},
		"thirty Jobs":     aCrowd(),
		"two Jobs":        {Elapsed: time.Minute, Jobs: append(aGang().Jobs, aCrowd().Jobs[7:8]...)},
		"ten thousand":    {Elapsed: time.Hour, Jobs: []progress.Job{thousands}},
		"a hostile name":  {Jobs: []progress.Job{{Name: "job a\x1b[2J\n\u202eb", Total: 1, Cells: cells(1, life.Scheduled)}}},
		"more than there": {Jobs: []progress.Job{{Name: "job a", Done: 7, Total: 3, Cells: cells(9, life.Running)}}},
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestFrames(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, name := range []string{"nothing yet", "a gang", "a work queue", "two Jobs", "thirty Jobs", "ten thousand", "a hostile name", "more than there"} {
		for _, size := range []struct {
			width, height int
			style         progress.Style
		}{{100, 14, progress.Style{}}, {60, 6, progress.Style{Color: true}}, {24, 3, progress.Style{ASCII: true}}} {
			fmt.Fprintf(&text, "== %s, %d × %d, %+v\n", name, size.width, size.height, size.style)
			for _, line := range progress.Frame(states()[name], size.width, size.height, size.style) {
				fmt.Fprintln(&text, strings.ReplaceAll(line, "\x1b", "^"))
			}
		}
	}
	file := filepath.Join("testdata", "frames.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test -update makes it")
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("frames are drawn otherwise; go test -update writes them anew (-want +got):\n%s", diff)
	}
}

// No frame is larger than the terminal, whatever size that is, and nothing in it moves the cursor.
func TestFramesFit(t *testing.T) {
	t.Parallel()
	for name, state := range states() {
		for width := range 130 {
			for _, height := range []int{0, 1, 2, 3, 5, 14, 40} {
				for _, style := range []progress.Style{{}, {Color: true, ASCII: true}} {
					lines := progress.Frame(state, width, height, style)
					require.LessOrEqual(t, len(lines), height, name)
					if width > 0 && height > 0 {
						require.NotEmpty(t, lines, "the last row of a frame is always drawn")
					}
					for _, line := range lines {
						plain := escape.ReplaceAllString(line, "")
						require.LessOrEqual(t, utf8.RuneCountInString(plain), width, "%s: %q", name, line)
						require.NotContains(t, plain, "\x1b")
						require.NotContains(t, plain, "\n")
					}
				}
			}
		}
	}
}

// Cells that stand for many pods still show where most of them are, and say how many they stand for.
func TestCellsOfManyPods(t *testing.T) {
	t.Parallel()
	lines := progress.Frame(states()["ten thousand"], 80, 14, progress.Style{ASCII: true})
	text := strings.Join(lines, "\n")
	assert.Contains(t, text, "2000/10000")
	assert.Regexp(t, `  \d+ pods each`, text)
	shown := strings.Join(lines[2:], "")
	assert.InDelta(t, .2, float64(strings.Count(shown, "+"))/float64(strings.Count(shown, "+")+strings.Count(shown, "#")+strings.Count(shown, "o")+strings.Count(shown, ".")), .01)
}

func TestStyleOfATerminal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		env  map[string]string
		want progress.Style
	}{
		"a usual one":            {map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm"}, progress.Style{Color: true}},
		"NO_COLOR":               {map[string]string{"LANG": "C.utf8", "NO_COLOR": "1"}, progress.Style{}},
		"a dumb one":             {map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8", "TERM": "dumb"}, progress.Style{ASCII: true}},
		"wide letters":           {map[string]string{"LC_CTYPE": "ja_JP.UTF-8", "LANG": "en_US.UTF-8"}, progress.Style{Color: true, ASCII: true}},
		"nothing is known of it": {nil, progress.Style{Color: true, ASCII: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, progress.StyleOf(func(name string) string { return tc.env[name] }))
		})
	}
}
