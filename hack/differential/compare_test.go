package differential_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/hack/differential/wire"
)

// tally counts what Kubernetes answered.
type tally struct {
	accepted, refused, panicked, different int
	// faults are the errors seen, each once whatever the values and indexes in it.
	faults map[string]bool
}

// particular is what differs between errors that come of one rule.
var particular = regexp.MustCompile(`\[[^\]]*\]|"(?:[^"\\]|\\.)*"|\d+|<object>`)

func (c *tally) add(wanted *wire.Answer) {
	if c.faults == nil {
		c.faults = map[string]bool{}
	}
	for _, line := range errorLines(wanted) {
		c.faults[particular.ReplaceAllString(line, "_")] = true
	}
	switch {
	case wanted.Panic != "":
		c.panicked++
	case wanted.Undecodable != "" || len(wanted.Errors) > 0:
		c.refused++
	default:
		c.accepted++
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("accepted %d, refused %d for %d different faults, made Kubernetes panic %d; answered otherwise %d",
		c.accepted, c.refused, len(c.faults), c.panicked, c.different)
}

// printedObject is a whole object inside a message. How a server prints it follows its internal Go types.
var printedObject = regexp.MustCompile(`Invalid value: (?:\{|\[\{).*?(?:\}|\}\]): `)

// compare lists what got has otherwise than wanted.
func compare(t *testing.T, pair *pair, question *wire.Question, wanted, got *wire.Answer) []string {
	t.Helper()
	switch {
	case got.Panic != "":
		return []string{"panic: " + got.Panic}
	case wanted.Undecodable != "" || got.Undecodable != "":
		if (wanted.Undecodable == "") != (got.Undecodable == "") {
			return []string{fmt.Sprintf("cannot be decoded: want %q, got %q", wanted.Undecodable, got.Undecodable)}
		}
		return nil
	case wanted.Panic != "":
		return nil // a request that makes Kubernetes panic has no right answer
	}
	var found []string
	if diff := cmp.Diff(document(t, question, wanted.Object), document(t, question, got.Object)); diff != "" {
		found = append(found, "object (-want +got):\n"+diff)
	}
	for _, part := range []struct {
		name string
		of   func(*wire.Answer) []string
	}{{"error", errorLines}, {"warning", func(answer *wire.Answer) []string { return answer.Warnings }}} {
		want, have := part.of(wanted), part.of(got)
		missing, extra := without(want, have), without(have, want)
		for _, line := range missing {
			found = append(found, "missing "+part.name+": "+line)
		}
		for _, line := range extra {
			found = append(found, "unwanted "+part.name+": "+line)
		}
		if len(missing)+len(extra) == 0 && !slices.Equal(want, have) && ordered(t, pair, question, part.of, want, have) {
			found = append(found, "order of "+part.name+" (-want +got):\n"+cmp.Diff(want, have))
		}
	}
	return found
}

// without returns lines without those in others, one for one.
func without(lines, others []string) []string {
	counts := map[string]int{}
	for _, line := range others {
		counts[line]++
	}
	var rest []string
	for _, line := range lines {
		if counts[line]--; counts[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}

func errorLines(answer *wire.Answer) []string {
	var lines []string
	for _, err := range answer.Errors {
		detail := printedObject.ReplaceAllString(err.Detail, "Invalid value: <object>: ")
		lines = append(lines, err.Type+" "+err.Field+": "+detail)
	}
	return lines
}

// ordered reports whether Kubernetes always lists what it found in the order of want. Where it goes through a map, it
// does not, and the order of have is as good.
func ordered(t *testing.T, pair *pair, question *wire.Question, of func(*wire.Answer) []string, want, have []string) bool {
	t.Helper()
	for range 200 {
		again, _ := pair.ask(t, question)
		if lines := of(again); slices.Equal(lines, have) || !slices.Equal(lines, want) {
			return false
		}
	}
	return true
}

// document reads an object without what says nothing: nulls, and the moment at which a pod was found to be gated.
func document(t *testing.T, question *wire.Question, text json.RawMessage) any {
	t.Helper()
	var read map[string]any
	require.NoError(t, json.Unmarshal(text, &read))
	if question.Kind == "Pod" && question.Operation == "create" {
		status, _ := read["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		for _, condition := range conditions {
			delete(condition.(map[string]any), "lastTransitionTime")
		}
	}
	withoutNulls(read)
	return read
}

func withoutNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, field any) bool { return field == nil })
		for _, field := range value {
			withoutNulls(field)
		}
	case []any:
		for _, item := range value {
			withoutNulls(item)
		}
	}
}
