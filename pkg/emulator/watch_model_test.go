package emulator_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// change is what a writer did to a config map, or what a watcher was told of it.
type change struct {
	Version int64 // of the change; 0 in what a writer knows of a deletion
	Name    string
	Type    watch.EventType
	Label   string // the label v after the change, or before a deletion
	Number  string // no two writes have the same; of a deletion it is that of the write before
}

// changeTo returns the change that left a config map like this.
func changeTo(kind watch.EventType, object *corev1.ConfigMap) (change, error) {
	version, err := strconv.ParseInt(object.ResourceVersion, 10, 64)
	if err != nil {
		return change{}, fmt.Errorf("reading the resource version of %s: %w", object.Name, err)
	}
	return change{Version: version, Name: object.Name, Type: kind, Label: object.Labels["v"], Number: object.Data["number"]}, nil
}

// selection is which config maps a watcher wants to know of.
type selection struct {
	labels, fields string
	matches        func(change) bool
}

func everything() selection {
	return selection{matches: func(change) bool { return true }}
}

// selections are those that watchers use. There is a last write for each.
func selections(name string) []selection {
	return []selection{
		everything(),
		{labels: "v=1", matches: func(c change) bool { return c.Label == "1" }},
		{labels: "v in (0,2)", matches: func(c change) bool { return c.Label == "0" || c.Label == "2" }},
		{labels: "v!=2", matches: func(c change) bool { return c.Label != "2" }},
		{fields: "metadata.name=" + name, matches: func(c change) bool { return c.Name == name }},
	}
}

// history is every change that there was, by ascending version.
type history []change

// newHistory orders what writers did, each to config maps of its own, by what one watcher saw who was there all the time,
// and says in what that differs from what they did.
func newHistory(writers [][]change, seen []change) (history, error) {
	byName := map[string][]change{}
	for _, changes := range writers {
		for _, c := range changes {
			byName[c.Name] = append(byName[c.Name], c)
		}
	}
	versions := map[string]int64{}
	last := int64(0)
	for i, c := range seen {
		if c.Version <= last {
			return nil, fmt.Errorf("event %d, %+v, came after version %d", i, c, last)
		}
		last = c.Version
		if len(byName[c.Name]) == 0 {
			return nil, fmt.Errorf("event %d, %+v: nobody did that", i, c)
		}
		want := byName[c.Name][0]
		byName[c.Name] = byName[c.Name][1:]
		if want.Version == 0 {
			want.Version = c.Version // that it is between those before and after is seen by their order
		}
		if diff := cmp.Diff(want, c); diff != "" {
			return nil, fmt.Errorf("event %d is not what was done (-done +seen):\n%s", i, diff)
		}
		versions[c.Name] = c.Version
	}
	for name, left := range byName {
		if len(left) > 0 {
			return nil, fmt.Errorf("after version %d of %s these were not seen: %+v", versions[name], name, left)
		}
	}
	return seen, nil
}

// before returns how many changes are not newer than a version.
func (h history) before(version int64) int {
	i, _ := slices.BinarySearchFunc(h, version+1, func(c change, v int64) int { return int(c.Version - v) })
	return i
}

// state returns the config maps of a selection at a version, by name, as if each were added.
func (h history) state(selected selection, version int64) []change {
	found := map[string]change{}
	for _, c := range h[:h.before(version)] {
		if c.Type == watch.Deleted || !selected.matches(c) {
			delete(found, c.Name)
			continue
		}
		c.Type = watch.Added
		found[c.Name] = c
	}
	list := []change{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name])
	}
	return list
}

// events returns what a watcher of a selection has to be told after a version: a config map that comes to match is added,
// one that matches no more is deleted, as it was when it last matched.
func (h history) events(selected selection, version int64) []change {
	matching := map[string]change{}
	for _, c := range h.state(selected, version) {
		matching[c.Name] = c
	}
	events := []change{}
	for _, c := range h[h.before(version):] {
		old, was := matching[c.Name]
		is := c.Type != watch.Deleted && selected.matches(c)
		event := c
		switch {
		case was && is:
			event.Type = watch.Modified
		case is:
			event.Type = watch.Added
		case was:
			event.Type, event.Label, event.Number = watch.Deleted, old.Label, old.Number
		default:
			continue
		}
		events = append(events, event)
		if is {
			matching[c.Name] = c
		} else {
			delete(matching, c.Name)
		}
	}
	return events
}

// trace is what one watch told, from its beginning to where it was broken off.
type trace struct {
	selected selection
	// listed are the config maps that it began with, if it began with a list at this version.
	listed   []change
	isListed bool
	from     int64
	events   []change
}

func (t trace) String() string {
	return fmt.Sprintf("the watch of labels %q and fields %q from version %d", t.selected.labels, t.selected.fields, t.from)
}

// check says in what a trace is not what the history has.
func (h history) check(t trace) error {
	if t.isListed {
		if diff := cmp.Diff(h.state(t.selected, t.from), t.listed); diff != "" {
			return fmt.Errorf("%v began with another list (-want +got):\n%s", t, diff)
		}
	}
	want := h.events(t.selected, t.from)
	if len(t.events) > len(want) {
		return fmt.Errorf("%v told %d things, and there were %d", t, len(t.events), len(want))
	}
	for i, event := range t.events {
		if diff := cmp.Diff(want[i], event); diff != "" {
			return fmt.Errorf("event %d of %v (-want +got):\n%s", i, t, diff)
		}
	}
	return nil
}
