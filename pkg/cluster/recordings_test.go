package cluster_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recording is what a control plane of Kubernetes 1.36.3 made of the steps that it was taken through.
type recording struct {
	ID    string  `json:"id"`
	Trace []entry `json:"trace"`
}

// entry is a step, the codes of the answers to its requests, each once, and what stood when all was still again.
type entry struct {
	Step  json.RawMessage `json:"step"`
	Codes []int           `json:"codes"`
	After map[string]any  `json:"after"`
}

// script is how recordings of one form are played.
type script[step any] struct {
	// controllers are those that ran.
	controllers []string
	take        func(*player, step)
	// still is how long nothing must change after a step before what stands is noted.
	still func(step) time.Duration
	// note returns what stands, in a form that has a recording's JSON. The order of lists is left to the comparison.
	note func(*player) map[string]any
}

// playAll plays the recordings of a file of testdata, each in a cluster and a bubble of its own.
func playAll[step any](t *testing.T, file string, s script[step]) {
	t.Helper()
	for _, r := range readRecordings(t, file) {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				if difference := s.play(t, r); difference != "" {
					t.Error(difference)
				}
			})
		})
	}
}

func readRecordings(t *testing.T, file string) []recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	var recordings []recording
	require.NoError(t, decodeStrictly(data, &recordings))
	require.NotEmpty(t, recordings)
	return recordings
}

// play takes the steps one by one, up to the first after which something else stands than what was recorded. It returns
// the difference.
func (s script[step]) play(t *testing.T, r recording) string {
	t.Helper()
	p := newPlayer(t, s.controllers)
	p.takeCodes()
	for i, e := range r.Trace {
		var next step
		require.NoError(t, decodeStrictly(e.Step, &next))
		s.take(p, next)
		codes := p.takeCodes()
		p.settle(s.still(next))
		if diff := gocmp.Diff(readable(t, e.Codes, e.After), readable(t, codes, s.note(p))); diff != "" {
			return fmt.Sprintf("after step %d of %d, %s (-recorded +got):\n%s", i+1, len(r.Trace), compact(t, e.Step), diff)
		}
	}
	return ""
}

// readable returns codes and what stands as text: one value a line, so that a difference is shown with what is round it.
func readable(tb testing.TB, codes []int, after map[string]any) string {
	tb.Helper()
	var plain map[string]any
	require.NoError(tb, json.Unmarshal([]byte(jsonText(tb, after)), &plain))
	for _, value := range plain {
		if list, ok := value.([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return cmp.Compare(jsonText(tb, a), jsonText(tb, b)) })
		}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // what stands for names is in angle brackets
	require.NoError(tb, encoder.Encode(plain))
	return fmt.Sprintf("codes: %v\n%s", codes, text.String())
}

func compact(tb testing.TB, text json.RawMessage) string {
	tb.Helper()
	var line bytes.Buffer
	require.NoError(tb, json.Compact(&line, text))
	return line.String()
}

func jsonText(tb testing.TB, value any) string {
	tb.Helper()
	text, err := json.Marshal(value)
	require.NoError(tb, err)
	return string(text)
}

// decodeStrictly refuses fields that the type does not have: a step of a kind that is not known must not pass as one
// that does nothing.
func decodeStrictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// seconds returns how long a step says that all has to be still.
func seconds(said, otherwise float64) time.Duration {
	return time.Duration(cmp.Or(said, otherwise) * float64(time.Second))
}

// A comparison that cannot fail is worth nothing.
func TestOtherThanRecordedIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*entry)
		want   []string
	}{
		"a code":              {func(e *entry) { e.Codes = []int{200} }, []string{"codes: [200]", "codes: [201]"}},
		"a count in a status": {func(e *entry) { e.first("jobs")["status"].(map[string]any)["active"] = 7 }, []string{`"active": 7`, `"active": 1`}},
		"a field that is not": {func(e *entry) { e.first("pods")["deleting"] = true }, []string{`"deleting": true`}},
		"an event": {func(e *entry) { e.After["events"] = []any{} }, []string{
			`"events": []`, "Job Normal SuccessfulCreate Created pod: j-<rand>",
		}},
		"a pod too many": {func(e *entry) { e.After["pods"] = []any{e.first("pods"), e.first("pods")} }, []string{`"phase": "Pending"`}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				recordings := readRecordings(t, "job-lives.json")
				one := recordings[slices.IndexFunc(recordings, func(r recording) bool { return r.ID == "single-fails-within-limit" })]
				tc.change(&one.Trace[0])
				difference := lives().play(t, one)
				assert.Contains(t, difference, "after step 1 of ")
				for _, text := range tc.want {
					assert.Contains(t, difference, text)
				}
			})
		})
	}
}

// first returns the first of a list of what stood.
func (e *entry) first(list string) map[string]any {
	return e.After[list].([]any)[0].(map[string]any)
}
