package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// Draw returns the picture of a life, as the text of an SVG file.
func Draw(l life.Life, o Options) []byte {
	p := newPlan(l, o.complete())
	var body canvas
	foot := p.drawParts(&body)
	height := foot + margin - sectionGap

	c := &canvas{}
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="title description">`,
		number(p.width), number(height))
	c.put(`<title id="title">%s</title>`, escaped(p.title()))
	c.put(`<desc id="description">%s</desc>`, escaped(describe(l)))
	c.WriteString(style + "\n")
	c.put(`<rect class="paper" x="0.5" y="0.5" width="%s" height="%s" rx="6"/>`, number(p.width-1), number(height-1))
	p.drawHead(c, foot-sectionGap)
	c.Write(body.Bytes())
	c.put(`</svg>`)
	return c.Bytes()
}

func (p *plan) title() string {
	if p.life.Title == "" {
		return "The life of pods"
	}
	return p.life.Title
}

// mostDescribed bounds the description.
const mostDescribed = 20

// describe says in words what the picture shows.
func describe(l life.Life) string {
	sentences := []string{fmt.Sprintf("What each pod did over %s.", seconds(l.End))}
	for i, s := range l.Sections {
		if i == mostDescribed {
			sentences = append(sentences, fmt.Sprintf("And %d more.", len(l.Sections)-i))
			break
		}
		sentences = append(sentences, describeSection(s))
	}
	for _, m := range l.Nodes {
		if m.Kind == life.Bad {
			sentences = append(sentences, fmt.Sprintf("%s at %s.", m.Label, seconds(m.At)))
		}
	}
	return strings.Join(sentences, " ")
}

func describeSection(s life.Section) string {
	text := s.Name
	if s.Note != "" {
		text += ": " + s.Note
	}
	parts := []string{text}
	if len(s.Pods) > 0 {
		parts = append(parts, fmt.Sprintf("pods: %s", life.Count(s.Pods)))
	}
	for _, m := range s.Marks {
		if m.Kind == life.Admitted {
			parts = append(parts, fmt.Sprintf("gang admitted at %s", seconds(m.At)))
		}
	}
	return strings.Join(parts, "; ") + "."
}

func plural(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// drawHead draws what is above the sections, and the grid behind them down to a foot.
func (p *plan) drawHead(c *canvas, foot float64) {
	pods := 0
	for _, s := range p.life.Sections {
		pods += len(s.Pods)
	}
	total := fmt.Sprintf("%s, %s", plural(pods), seconds(p.life.End))
	c.text("title", margin, titleLine, fit(p.title(), 15, p.x1-margin-textWidth(total, 11)-margin))
	c.text("muted end", p.x1, titleLine, total)
	y := titleLine
	for _, line := range p.legend() {
		y += legendLine
		for _, item := range line {
			p.drawLegendItem(c, item, y)
		}
	}
	y += axisLine
	for _, at := range ticks(p.life.End) {
		x := p.x(at)
		c.line("grid", x, y+4, x, foot)
		class := "muted mid"
		if x+textWidth(clock(at), 11)/2 > p.width-margin/2 {
			class, x = "muted end", p.width-margin/2
		}
		c.text(class, x, y, clock(at))
	}
	if len(p.nodes) > 0 {
		y += 8 + laneLine/2
		c.text("name", margin, y+4, "nodes")
		p.lane(c, p.nodes, y)
	}
}

func (p *plan) drawLegendItem(c *canvas, item legendItem, y float64) {
	x := item.x
	switch item.class {
	case "cut":
		c.line("cut", x+6, y-10, x+6, y+1)
	case "admission":
		c.line("admission", x+6, y-11, x+6, y+2)
	case life.Succeeded.String(), life.Failed.String():
		c.ending(item.class, x+6, y-4, markRadius)
	default:
		c.rect(item.class, x+.5, y-8.5, 11, 9)
	}
	c.text("muted", x+18, y, item.text)
}

// ending draws the badge of a pod that has ended.
func (c *canvas) ending(class string, x, y, radius float64) {
	kind := life.Good
	if class == life.Failed.String() {
		kind = life.Bad
	}
	sign := map[life.Kind]string{life.Good: "M-2.6 .2L-.7 2.2L2.8-2", life.Bad: "M-2-2L2 2M2-2L-2 2"}[kind]
	c.badge(class, sign, x, y, radius)
}

// drawParts draws the sections and returns where the next would begin.
func (p *plan) drawParts(c *canvas) (foot float64) {
	y := p.top()
	for _, part := range p.parts {
		y = p.drawPart(c, part, y)
	}
	if len(p.parts) == 0 {
		c.text("muted", p.x0, y+14, "There were no pods.")
		y += sectionLine + sectionGap
	}
	return y
}

func (p *plan) drawPart(c *canvas, s part, y float64) (foot float64) {
	c.line("rule", margin, y, p.x1, y)
	if s.Name == restOnly {
		c.text("name", margin, y+17, fit(s.Note, 12, p.x1-margin))
	} else {
		note := fit(s.Note, 11, (p.x1-margin)/2)
		c.group(s.Name+"\n"+s.Note, func() {
			c.text("name", margin, y+17, fit(s.Name, 12, p.x1-margin-textWidth(note, 11)-margin))
			c.text("muted end", p.x1, y+17, note)
		})
	}
	y += sectionLine
	if len(s.clusters) > 0 {
		p.lane(c, s.clusters, y+laneLine/2)
		y += laneLine
	}
	head := y
	y = p.drawRows(c, s.rows, y)
	if len(s.rest) > 0 {
		p.drawBand(c, s, y)
		y += bandHeight
	}
	for _, m := range s.Marks {
		if m.Kind == life.Admitted {
			c.line("admission", p.x(m.At), head-1, p.x(m.At), y)
		}
	}
	return y + sectionGap
}
