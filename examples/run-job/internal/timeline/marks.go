package timeline

import (
	"fmt"
	"strings"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// The size of a mark, and how much room it takes.
const (
	markRadius = 5.5
	markSpace  = 14.0
)

// cluster is a mark, or several that are too close to one another to be drawn apart.
type cluster struct {
	x     float64
	marks []life.Mark
	// label is written at labelX, if there is room for it.
	label  string
	labelX float64
}

// gather makes clusters of marks that are in order, with the labels that have room.
func (p *plan) gather(marks []life.Mark) []cluster {
	var list []cluster
	for _, m := range marks {
		x := p.x(m.At)
		if n := len(list); n > 0 && x-list[n-1].x < markSpace {
			list[n-1].marks = append(list[n-1].marks, m)
			continue
		}
		list = append(list, cluster{x: x, marks: []life.Mark{m}})
	}
	free := p.x0 - markRadius // from here on nothing is written
	for i := range list {
		c := &list[i]
		next := p.width - margin
		if i+1 < len(list) {
			next = list[i+1].x - markSpace/2
		}
		c.label = c.head().Label
		if more := len(c.marks) - 1; more > 0 {
			c.label += fmt.Sprintf(" +%d", more)
		}
		width := textWidth(c.label, 11)
		switch {
		case c.x+markSpace/2+width <= next:
			c.labelX = c.x + markSpace/2 + 1
			free = c.labelX + width
		case c.x-markSpace/2-width >= free:
			c.labelX = c.x - markSpace/2 - width - 1
			free = c.x + markSpace/2
		default:
			c.label = ""
			free = c.x + markSpace/2
		}
	}
	return list
}

// head is the mark that stands for the cluster: the one that matters most, of several the last.
func (c cluster) head() life.Mark {
	weight := map[life.Kind]int{life.Bad: 5, life.Good: 4, life.Admitted: 3, life.Held: 2, life.Note: 1}
	head := c.marks[0]
	for _, m := range c.marks {
		if weight[m.Kind] >= weight[head.Kind] {
			head = m
		}
	}
	return head
}

// mostInTooltip is how many lines a tooltip has at most.
const mostInTooltip = 12

func (c cluster) tooltip() string {
	var lines []string
	for i, m := range c.marks {
		if i == mostInTooltip-1 && len(c.marks) > mostInTooltip {
			lines = append(lines, fmt.Sprintf("and %d more", len(c.marks)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s: %s", seconds(m.At), m.Text))
	}
	return strings.Join(lines, "\n")
}

// lane draws marks in a line whose middle is at y.
func (p *plan) lane(c *canvas, clusters []cluster, y float64) {
	for _, cl := range clusters {
		c.group(cl.tooltip(), func() {
			c.mark(cl.head().Kind, cl.x, y)
			if cl.label != "" {
				c.text("muted", cl.labelX, y+4, cl.label)
			}
		})
	}
}

// mark draws the sign of a kind: each has a form of its own, beside its colour.
func (c *canvas) mark(kind life.Kind, x, y float64) {
	class := markClass(kind)
	switch kind {
	case life.Admitted:
		c.put(`<path class="%s" d="M%s %sl6 6-6 6-6-6z"/>`, class, number(x), number(y-6))
	case life.Good:
		c.badge(class, "M-2.6 .2L-.7 2.2L2.8-2", x, y, markRadius)
	case life.Bad:
		c.badge(class, "M-2-2L2 2M2-2L-2 2", x, y, markRadius)
	case life.Held:
		c.badge(class, "M-2.4 0H2.4", x, y, markRadius)
	default:
		c.put(`<circle class="%s" cx="%s" cy="%s" r="3"/>`, class, number(x), number(y))
	}
}

// badge draws a disc with a sign in it, which is made for a radius of 5.5.
func (c *canvas) badge(class, sign string, x, y, radius float64) {
	c.put(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, number(x), number(y), number(radius))
	c.put(`<path class="sign" transform="translate(%s %s) scale(%.2f)" d="%s"/>`, number(x), number(y), radius/markRadius, sign)
}
