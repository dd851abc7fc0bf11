package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// printEntry writes one line of the timeline.
func printEntry(out io.Writer, e entry) {
	progress := ""
	if e.Progress != "" {
		progress = "[" + e.Progress + "]"
	}
	fmt.Fprintf(out, "%8s  %-7s %s: %s\n", e.At, progress, e.Object, e.What)
}

// complain prints an error, each line of it under the program's name.
func complain(out io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(out, "run-job: %s\n", strings.TrimRight(line, "\n"))
	}
}

func (r *report) print(out io.Writer, form string) error {
	switch form {
	case outputJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case outputYAML:
		text, err := yaml.Marshal(r)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	default:
		return r.printText(out)
	}
}

// printText writes the report for people. The timeline was printed as it happened.
func (r *report) printText(out io.Writer) error {
	t := &table{out: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	for _, job := range r.Jobs {
		t.row("\nJOB", "SUCCEEDED", "FAILED", "CREATED", "FINISHED")
		name := job.Namespace + "/" + job.Name
		if job.Deleted {
			name += " (deleted)"
		}
		t.row(name, job.Progress, fmt.Sprint(job.Failed), at(job.When, milestoneCreated), at(job.When, milestoneFinished))
		t.conditions(job.Conditions)
	}
	t.heading(len(r.Workloads), "WORKLOAD", "TEMPLATES", "CREATED")
	for _, w := range r.Workloads {
		t.row(w.Namespace+"/"+w.Name, strings.Join(w.Templates, "; "), at(w.When, milestoneCreated))
	}
	for _, g := range r.PodGroups {
		t.row("\nPODGROUP", "POLICY", "WORKLOAD", "CREATED", "SCHEDULED")
		t.row(g.Namespace+"/"+g.Name, g.Policy, orNone(g.Workload), at(g.When, milestoneCreated), at(g.When, milestoneScheduled))
		t.conditions(g.Conditions)
	}
	t.heading(len(r.Pods), "POD", "PHASE", "EXIT", "NODE", "CREATED", "SCHEDULED", "STARTED", "FINISHED", "PODGROUP")
	for _, p := range r.Pods {
		exit := "-"
		if p.ExitCode != nil {
			exit = fmt.Sprint(*p.ExitCode)
		}
		t.row(p.Namespace+"/"+p.Name, p.Phase, exit, orNone(p.Node), at(p.When, milestoneCreated), at(p.When, milestoneScheduled),
			at(p.When, milestoneStarted), at(p.When, milestoneFinished), orNone(p.PodGroup))
	}
	if r.ran == 0 {
		t.row("\nNothing to run: there was no Job and no Pod to create.")
	}
	return t.out.Flush()
}

// table writes rows of cells; a line break before a first cell parts it from the table above.
type table struct{ out *tabwriter.Writer }

func (t *table) row(cells ...string) {
	first, rest, parted := strings.Cut(cells[0], "\n")
	if parted {
		// A line without cells ends the columns of the table above.
		fmt.Fprintln(t.out, first)
		cells = append([]string{rest}, cells[1:]...)
	}
	fmt.Fprintln(t.out, strings.Join(cells, "\t"))
}

func (t *table) heading(rows int, cells ...string) {
	if rows > 0 {
		t.row(append([]string{"\n" + cells[0]}, cells[1:]...)...)
	}
}

func (t *table) conditions(list []conditionReport) {
	for _, c := range list {
		fmt.Fprintf(t.out, "  %s\n", conditionText(c.Type, c.Status, c.Reason, c.Message))
	}
}

func at(when map[string]offset, milestone string) string {
	if o, ok := when[milestone]; ok {
		return o.String()
	}
	return "-"
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
