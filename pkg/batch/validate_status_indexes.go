package batch

import (
	"fmt"
	"strings"
)

// indexes checks status.completedIndexes and status.failedIndexes.
func (c *statusCheck) indexes() {
	status, spec, changed := &c.job.Status, &c.job.Spec, &c.changed
	completions := 0
	if spec.Completions != nil {
		completions = int(*spec.Completions)
		c.indexLists(completions)
	}
	if changed.completedIndexes && status.CompletedIndexes != "" && !isIndexed(spec) {
		c.invalid("completedIndexes", status.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if status.FailedIndexes == nil {
		return
	}
	if changed.failedIndexes && spec.BackoffLimitPerIndex == nil {
		c.invalid("failedIndexes", *status.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (changed.failedIndexes || changed.completedIndexes) && spec.Completions != nil {
		if err := checkOverlap(status.CompletedIndexes, *status.FailedIndexes, completions); err != nil {
			c.invalid("failedIndexes", *status.FailedIndexes, err.Error())
		}
	}
}

// indexLists checks that both lists can be read and stay below completions.
func (c *statusCheck) indexLists(completions int) {
	status := &c.job.Status
	if c.changed.completedIndexes {
		c.indexList("completedIndexes", status.CompletedIndexes, completions)
	}
	if c.changed.failedIndexes && status.FailedIndexes != nil && c.job.Spec.BackoffLimitPerIndex != nil {
		c.indexList("failedIndexes", *status.FailedIndexes, completions)
	}
}

func (c *statusCheck) indexList(name, text string, completions int) {
	if _, err := parseIndexSet(text, completions); err != nil {
		c.invalid(name, text, fmt.Sprintf("error parsing %s: %s", name, err))
	}
}

// checkOverlap returns an error that names an index which is both completed and failed. Items that cannot be read are
// passed over here: the check of the list itself reports them. Lists out of order are walked as they stand, as
// Kubernetes does, so that both find the same index.
func checkOverlap(completedText, failedText string, completions int) error {
	completed, failed := readableRuns(completedText, completions), readableRuns(failedText, completions)
	for len(completed) > 0 && len(failed) > 0 {
		c, f := completed[0], failed[0]
		switch {
		case c.first <= f.last && f.first <= c.last:
			return fmt.Errorf("failedIndexes and completedIndexes overlap at index: %d", max(c.first, f.first))
		case c.first <= f.first:
			completed = completed[1:]
		default:
			failed = failed[1:]
		}
	}
	return nil
}

func readableRuns(text string, completions int) []run {
	if text == "" {
		return nil
	}
	var runs []run
	for item := range strings.SplitSeq(text, ",") {
		if r, err := parseRun(item, completions); err == nil {
			runs = append(runs, r)
		}
	}
	return runs
}
