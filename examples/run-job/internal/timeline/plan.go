package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// The parts of a picture, in pixels.
const (
	margin       = 16.0
	gutter       = 176.0 // the names at the left
	rightMargin  = 24.0
	titleLine    = 30.0 // from the top to the foot of the title
	legendLine   = 18.0
	axisLine     = 24.0
	sectionLine  = 24.0 // a section's name
	laneLine     = 18.0 // its marks
	sectionGap   = 12.0
	bandHeight   = 40.0 // the pods that have no rows
	rowMost      = 20.0
	rowLeast     = 3.0
	rowLabelled  = 11.0 // the least height of a row for a name
	sectionSpace = sectionLine + laneLine + sectionGap
)

// plan is what goes where.
type plan struct {
	life   life.Life
	width  float64
	x0, x1 float64 // of the time axis
	row    float64 // height of a row
	nodes  []cluster
	parts  []part
}

// part is a section with what of it is shown.
type part struct {
	life.Section
	clusters []cluster
	rows     []life.Pod
	rest     []life.Pod // those without rows
}

// newPlan decides what is shown of a life, and how large.
func newPlan(l life.Life, o Options) *plan {
	p := &plan{life: l, width: float64(o.Width), x0: margin + gutter, x1: float64(o.Width) - rightMargin}
	if p.life.End <= 0 {
		p.life.End = time.Millisecond
	}
	p.nodes = p.gather(l.Nodes)
	for _, s := range shownSections(l.Sections, o.Height) {
		p.parts = append(p.parts, part{Section: s, clusters: p.gather(s.Marks)})
	}
	space := float64(o.Height) - p.top() - margin
	for i := range p.parts {
		space -= p.parts[i].overhead()
	}
	p.fillRows(space)
	return p
}

// x is where a time is on the axis.
func (p *plan) x(at time.Duration) float64 {
	at = min(max(at, 0), p.life.End)
	return p.x0 + (p.x1-p.x0)*float64(at)/float64(p.life.End)
}

// top is where the first section begins.
func (p *plan) top() float64 {
	top := titleLine + legendLine*float64(len(p.legend())) + axisLine + 8
	if len(p.nodes) > 0 {
		top += laneLine + sectionGap
	}
	return top
}

// overhead is how high a part is without its pods.
func (p part) overhead() float64 {
	if len(p.clusters) == 0 {
		return sectionLine + sectionGap
	}
	return sectionSpace
}

// restOnly marks the section that stands for those that are not shown.
const restOnly = "\x00"

// shownSections returns the sections that get a place of their own, which leave half of the height to their pods, and
// one for all others.
func shownSections(sections []life.Section, height int) []life.Section {
	most := max(1, int(float64(height)/2/sectionSpace))
	if len(sections) <= most {
		return sections
	}
	others := life.Section{Name: restOnly}
	for _, s := range sections[most-1:] {
		others.Pods = append(others.Pods, s.Pods...)
	}
	others.Note = fmt.Sprintf("and %d more, with %s", len(sections)-(most-1), life.Count(others.Pods))
	return append(slices.Clone(sections[:most-1]), others)
}

// fillRows gives pods their rows, or puts them among the rest where there are too many.
func (p *plan) fillRows(space float64) {
	wanted := make([]int, len(p.parts))
	rows := 0
	for i, part := range p.parts {
		if part.Name != restOnly {
			wanted[i] = len(part.Pods)
		} else {
			space -= bandHeight
		}
		rows += wanted[i]
	}
	p.row = rowMost
	if rows > 0 {
		p.row = min(rowMost, space/float64(rows))
	}
	if p.row < rowLeast {
		p.row = rowLeast
		for range p.parts {
			space -= bandHeight
		}
		wanted = share(wanted, max(0, int(space/p.row)))
	}
	for i := range p.parts {
		p.parts[i].rows, p.parts[i].rest = chosen(p.parts[i].Pods, wanted[i])
	}
}

// share cuts what is wanted down to a sum, so that nobody gets more than another who wants more than he gets.
func share(wanted []int, sum int) []int {
	given := make([]int, len(wanted))
	for {
		var hungry []int
		for i := range wanted {
			if given[i] < wanted[i] {
				hungry = append(hungry, i)
			}
		}
		if len(hungry) == 0 || sum < len(hungry) {
			return given
		}
		portion := sum / len(hungry)
		for _, i := range hungry {
			more := min(portion, wanted[i]-given[i])
			given[i] += more
			sum -= more
		}
	}
}

// chosen parts so many pods from the rest, in their order: first those that something happened to.
func chosen(pods []life.Pod, count int) (rows, rest []life.Pod) {
	if count >= len(pods) {
		return pods, nil
	}
	taken := make([]bool, len(pods))
	for _, any := range []bool{false, true} {
		for i, pod := range pods {
			if count > 0 && !taken[i] && (any || eventful(pod)) {
				taken[i] = true
				count--
			}
		}
	}
	for i, pod := range pods {
		if taken[i] {
			rows = append(rows, pod)
		} else {
			rest = append(rest, pod)
		}
	}
	return rows, rest
}

// eventful says whether a pod's life was not as it should be.
func eventful(pod life.Pod) bool {
	return slices.ContainsFunc(pod.Spans, func(s life.Span) bool {
		return s.State == life.Failed || s.State == life.Lost || s.State == life.Terminating
	})
}

// legend returns the lines of the legend: what is in the picture.
func (p *plan) legend() [][]legendItem {
	var lines [][]legendItem
	var line []legendItem
	x := margin
	for _, item := range p.legendItems() {
		item.x = x
		if x+item.width() > p.x1 && len(line) > 0 {
			lines, line = append(lines, line), nil
			item.x = margin
		}
		line = append(line, item)
		x = item.x + item.width() + 14
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// visible says whether a span is long enough to be seen.
func (p *plan) visible(span life.Span) bool { return p.x(span.To)-p.x(span.From) >= .1 }

type legendItem struct {
	class, text string
	x           float64
}

func (i legendItem) width() float64 { return 18 + textWidth(i.text, 11) }

func (p *plan) legendItems() []legendItem {
	states := map[life.State]bool{}
	admitted := false
	for _, s := range p.life.Sections {
		for _, pod := range s.Pods {
			for _, span := range pod.Spans {
				if span.State.Ended() || p.visible(span) {
					states[span.State] = true
				}
			}
		}
		admitted = admitted || slices.ContainsFunc(s.Marks, func(m life.Mark) bool { return m.Kind == life.Admitted })
	}
	var items []legendItem
	for _, state := range shown() {
		if states[state] {
			items = append(items, legendItem{class: state.String(), text: state.String()})
		}
	}
	if states[life.Gone] {
		items = append(items, legendItem{class: "cut", text: "deleted"})
	}
	if admitted {
		items = append(items, legendItem{class: "admission", text: "gang admitted"})
	}
	return items
}
