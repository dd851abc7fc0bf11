package life

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is what a pod is doing, as far as the API server knows.
type State int

// The states of a pod, in the order in which it goes through them.
const (
	Waiting     State = iota // it has no node
	Scheduled                // it is bound to a node and has not started
	Running                  // its containers run
	Lost                     // its node is not heard of, so that nobody knows what it does
	Terminating              // it is being deleted and has not ended
	Succeeded                // its containers ended well
	Failed                   // one of them did not, or it was made to fail
	Gone                     // it does not exist any more
)

// States returns every state, in order.
func States() []State {
	return []State{Waiting, Scheduled, Running, Lost, Terminating, Succeeded, Failed, Gone}
}

// String is the state in a word.
func (s State) String() string {
	words := []string{"waiting", "scheduled", "running", "lost", "terminating", "succeeded", "failed", "gone"}
	if s < 0 || int(s) >= len(words) {
		return fmt.Sprintf("state %d", int(s))
	}
	return words[s]
}

// Ended says that a pod in this state does nothing any more.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Gone }

// Life is one run.
type Life struct {
	// Title is what the run is called.
	Title string
	// End is when it was over. Nothing in it is later.
	End time.Duration
	// Nodes are what happened to nodes.
	Nodes []Mark
	// Sections are the Jobs, and what else has pods, in the order in which they came up.
	Sections []Section
}

// Section is a Job with its pods, or pods without a Job that belong together.
type Section struct {
	// Name is what the section is called, such as "job default/training".
	Name string
	// Note is how it stands at the end.
	Note string
	// Marks are what happened to the Job and its pod groups, the earliest first.
	Marks []Mark
	// Pods are its pods, in the order in which they are shown.
	Pods []Pod
}

// Kind says what a mark stands for.
type Kind int

// The kinds of marks. The zero Kind is no mark.
const (
	NoMark   Kind = iota
	Admitted      // a gang has got its place
	Held          // a gang has been looked at and has no place
	Good          // a Job is Complete, a node is Ready
	Bad           // a Job has failed, a node is lost
	Note          // another condition, or an event
)

// Mark is a moment at which something happened.
type Mark struct {
	At   time.Duration
	Kind Kind
	// Label says it in a word or two, Text in full.
	Label, Text string
}

// Pod is the life of one pod.
type Pod struct {
	// Name is the pod's name.
	Name string
	// Label is what it is called among the pods of its section.
	Label string
	// Node is the node that it was bound to, if any.
	Node string
	// Note is how it ended, if there is more to say than its last state does.
	Note string
	// Spans are the states that it went through, each from where the one before it ended.
	Spans []Span
}

// Span is a time that a pod spent in one state.
type Span struct {
	State    State
	From, To time.Duration
}

// Last returns the last state of a pod, [Waiting] if it has none.
func (p Pod) Last() State {
	if len(p.Spans) == 0 {
		return Waiting
	}
	return p.Spans[len(p.Spans)-1].State
}

// At returns the state of a pod at a time; exists is false before its first one.
func (p Pod) At(at time.Duration) (state State, exists bool) {
	for _, span := range p.Spans {
		if at < span.From {
			break
		}
		state, exists = span.State, true
	}
	return state, exists
}

// Counts is how many pods are in each state.
type Counts map[State]int

// Count counts pods by their last states.
func Count(pods []Pod) Counts {
	counts := Counts{}
	for _, pod := range pods {
		counts[pod.Last()]++
	}
	return counts
}

// String lists the counts that are not zero, in the order of the states: "1 running, 2 succeeded".
func (c Counts) String() string {
	var parts []string
	for _, state := range States() {
		if n := c[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// Enter returns spans with a change of state at a time: the last one ends there, and another begins unless the state is
// the same.
func Enter(spans []Span, state State, at time.Duration) []Span {
	if n := len(spans); n > 0 {
		if spans[n-1].State == state {
			return spans
		}
		spans[n-1].To = at
	}
	return append(spans, Span{State: state, From: at, To: at})
}

// Close returns a copy of spans of which the last one lasts until the end, those without length left out unless they are
// the last.
func Close(spans []Span, end time.Duration) []Span {
	closed := slices.Clone(spans)
	if n := len(closed); n > 0 {
		closed[n-1].To = max(end, closed[n-1].From)
	}
	return slices.DeleteFunc(closed, func(s Span) bool { return s.From == s.To && s != closed[len(closed)-1] })
}

// SortMarks orders marks by time, those of one moment as they came.
func SortMarks(marks []Mark) {
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
}
