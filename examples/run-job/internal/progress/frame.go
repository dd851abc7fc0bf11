package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// Style says what a terminal can show.
type Style struct {
	// Color lets states have colours.
	Color bool
	// ASCII has everything drawn with the letters that every terminal has.
	ASCII bool
}

// The sizes of a frame, in columns and lines.
const (
	mostBar   = 24
	leastBar  = 6
	leastName = 8
	mostCells = 4 // lines of cells, of a single Job
)

// Frame returns the lines that show a state on a terminal: at most so many, none of them wider. A terminal that has no
// room for anything gets no lines.
func Frame(s State, width, height int, style Style) []string {
	if width < 1 || height < 1 {
		return nil
	}
	p := painter{Style: style, width: width}
	lines := []string{p.head(s)}
	jobs, left := chosen(s.Jobs, height-1)
	cellLines := 1
	if len(s.Jobs) == 1 {
		cellLines = max(0, min(mostCells, height-2))
	} else if height-1 < 2*len(jobs)+min(1, len(left)) {
		cellLines = 0
	}
	name := 0
	for _, job := range jobs {
		name = max(name, utf8.RuneCountInString(job.Name))
	}
	name = min(name, max(leastName, width*2/5))
	for _, job := range jobs {
		lines = append(lines, p.job(job, name))
		lines = append(lines, p.cells(job.Cells, cellLines)...)
	}
	if len(left) > 0 {
		lines = append(lines, p.cut(others(left)))
	}
	return lines[:min(len(lines), height)]
}

// chosen returns the Jobs that are shown in so many lines, in their order, and the others: those that go on come first.
func chosen(jobs []Job, lines int) (shown, left []Job) {
	room := len(jobs)
	if room > lines {
		room = max(0, lines-1) // the last line counts the others
	}
	taken := make([]bool, len(jobs))
	for _, ended := range []bool{false, true} {
		for i, job := range jobs {
			if room > 0 && !taken[i] && (job.Ended != "") == ended {
				taken[i] = true
				room--
			}
		}
	}
	for i, job := range jobs {
		if taken[i] {
			shown = append(shown, job)
		} else {
			left = append(left, job)
		}
	}
	return shown, left
}

func others(jobs []Job) string {
	ended, pods := 0, life.Counts{}
	for _, job := range jobs {
		if job.Ended != "" {
			ended++
		}
		for state, n := range job.counts() {
			pods[state] += n
		}
	}
	text := fmt.Sprintf("and %d more, %d ended", len(jobs), ended)
	if counts := pods.String(); counts != "" {
		text += ": " + counts
	}
	return text
}

// painter draws lines of a width.
type painter struct {
	Style
	width int
}

// head is the first line.
func (p painter) head(s State) string {
	ended := 0
	for _, job := range s.Jobs {
		if job.Ended != "" {
			ended++
		}
	}
	text := s.Elapsed.Truncate(100 * time.Millisecond).String()
	if len(s.Jobs) > 1 {
		text += fmt.Sprintf("  %d of %d ended", ended, len(s.Jobs))
	}
	if len(s.NotReady) > 0 {
		text += "  not Ready: " + strings.Join(s.NotReady, ", ")
	}
	return p.cut(text)
}

// job is the line of a Job: its name, a bar, how many are done, and what its pods do, as far as there is room.
func (p painter) job(j Job, nameWidth int) string {
	count := fmt.Sprintf("%d/%d", j.Done, j.Total)
	if j.Total == 0 {
		count = fmt.Sprintf("%d done", j.Done)
	}
	var line line
	line.add("", pad(shorten(j.Name, nameWidth, p.ASCII), nameWidth))
	room := p.width - nameWidth - 2 - len(count)
	if bar := min(mostBar, room*2/5); bar >= leastBar && j.Total > 0 {
		line.add("", " ")
		p.bar(&line, j, bar)
	}
	line.add("", " "+count)
	if j.Ended != "" {
		state := life.Succeeded
		if j.Failed {
			state = life.Failed
		}
		line.add(p.color(state), " "+j.Ended)
	} else if counts := j.counts().String(); counts != "" {
		line.add("", "  "+counts)
	}
	return line.render(p.width, p.ASCII)
}

// bar draws how much of a Job is done, and how much is running.
func (p painter) bar(l *line, j Job, width int) {
	full, begun, empty := "█", "▒", "░"
	if p.ASCII {
		full, begun, empty = "#", "=", "."
	}
	done := width * min(j.Done, j.Total) / j.Total
	running := min(width-done, width*min(j.counts()[life.Running], j.Total)/j.Total)
	l.add(p.color(life.Succeeded), strings.Repeat(full, done))
	l.add(p.color(life.Running), strings.Repeat(begun, running))
	l.add("", strings.Repeat(empty, width-done-running))
}

// cells draws pods, one a cell, or as many as it takes to have room in so many lines.
func (p painter) cells(cells []life.State, lines int) []string {
	const indent = 2
	columns := p.width - indent
	if columns < 1 || lines < 1 || len(cells) == 0 {
		return nil
	}
	each := 1
	legend := ""
	if len(cells) > columns*lines {
		// The size of a cell is told, which takes room itself.
		for each = 2; ; each++ {
			legend = fmt.Sprintf("  %d pods each", each)
			if len(legend) >= columns/2 {
				legend = ""
			}
			if (len(cells)+each-1)/each <= columns*lines-len(legend) {
				break
			}
		}
	}
	var shown []life.State
	for start := 0; start < len(cells); start += each {
		shown = append(shown, most(cells[start:min(start+each, len(cells))]))
	}
	var text []string
	for start := 0; start < len(shown); start += columns {
		var row line
		row.add("", strings.Repeat(" ", indent))
		for _, state := range shown[start:min(start+columns, len(shown))] {
			row.add(p.color(state), p.glyph(state))
		}
		if start+columns >= len(shown) {
			row.add("", legend)
		}
		text = append(text, row.render(p.width, p.ASCII))
	}
	return text
}

// most is the state that most of some pods are in; of two as many, that which is further from the end.
func most(cells []life.State) life.State {
	counts := map[life.State]int{}
	for _, state := range cells {
		counts[state]++
	}
	best := cells[0]
	for _, state := range life.States() {
		if counts[state] > counts[best] || counts[state] == counts[best] && state < best {
			best = state
		}
	}
	return best
}

func (p painter) glyph(state life.State) string {
	glyphs := map[life.State][2]string{
		life.Waiting: {"○", "o"}, life.Scheduled: {"◎", "@"}, life.Running: {"●", "#"}, life.Lost: {"?", "?"},
		life.Terminating: {"-", "-"}, life.Succeeded: {"✓", "+"}, life.Failed: {"✗", "x"}, life.Gone: {"·", "."},
	}
	if p.ASCII {
		return glyphs[state][1]
	}
	return glyphs[state][0]
}

// color returns the parameter of the escape sequence for a state, "" for none.
func (p painter) color(state life.State) string {
	if !p.Color {
		return ""
	}
	return map[life.State]string{
		life.Scheduled: "36", life.Running: "34", life.Lost: "33", life.Terminating: "33", life.Succeeded: "32", life.Failed: "31", life.Gone: "2",
	}[state]
}

// cut shortens a line to the width.
func (p painter) cut(text string) string {
	var l line
	l.add("", text)
	return l.render(p.width, p.ASCII)
}
