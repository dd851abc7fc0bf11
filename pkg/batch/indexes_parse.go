package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseIndexSet reads a list of indexes as an API server does when it validates one: items N or N-M parted by commas,
// ascending without overlap, each index below completions. The empty text is the empty set; neighbours such as 0,1 or
// 0-1,2 are fine. The errors name the text, and what is wrong in the wording of Kubernetes.
func ParseIndexSet(text string, completions int) (IndexSet, error) {
	set, err := parseIndexSet(text, completions)
	if err != nil {
		return IndexSet{}, fmt.Errorf("reading indexes %q: %w", text, err)
	}
	return set, nil
}

// parseIndexSet has the errors of Kubernetes and nothing else.
func parseIndexSet(text string, completions int) (IndexSet, error) {
	if text == "" {
		return IndexSet{}, nil
	}
	set := IndexSet{runs: make([]run, 0, 1+strings.Count(text, ","))}
	for item := range strings.SplitSeq(text, ",") {
		r, err := parseRun(item, completions)
		if err != nil {
			return IndexSet{}, err
		}
		if n := len(set.runs); n > 0 && set.runs[n-1].last >= r.first {
			return IndexSet{}, outOfOrder(set.runs[n-1].last, r.first)
		}
		set.extend(r.first, r.last)
	}
	return set, nil
}

// ReadIndexSet reads a list of indexes from a status in the forgiving way of the Job controller: indexes from
// completions on are dropped (the Job was scaled down since), and so are items that cannot be read. Items may come in
// any order.
func ReadIndexSet(text string, completions int) IndexSet {
	var set IndexSet
	if text == "" {
		return set
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(item, "-")
		r := run{}
		var err error
		if r.first, err = strconv.Atoi(first); err != nil || r.first >= completions {
			continue
		}
		r.last = r.first
		if isRange {
			if r.last, err = strconv.Atoi(last); err != nil || r.last < r.first {
				continue
			}
		}
		r.last = min(r.last, completions-1)
		if n := len(set.runs); n == 0 || r.first >= set.runs[n-1].first {
			set.extend(r.first, r.last)
		} else {
			set = set.Union(IndexSet{runs: []run{r}, length: r.last - r.first + 1})
		}
	}
	return set
}

// parseRun reads one item of a list.
func parseRun(item string, completions int) (run, error) {
	firstText, lastText, isRange := strings.Cut(item, "-")
	if strings.Contains(lastText, "-") {
		return run{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two"+
			" parts separated by '-'", item)
	}
	first, err := parseIndex(firstText, completions)
	if err != nil || !isRange {
		return run{first, first}, err
	}
	last, err := parseIndex(lastText, completions)
	if err != nil {
		return run{}, err
	}
	if first >= last {
		return run{}, outOfOrder(first, last)
	}
	return run{first, last}, nil
}

func parseIndex(text string, completions int) (int, error) {
	index, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if index >= completions {
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return index, nil
}

func outOfOrder(previous, current int) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, current)
}
