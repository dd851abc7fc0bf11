package timeline

import (
	"fmt"
	"math"
	"strings"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// The least height of a row for the signs of endings, for outlines, and for the name of a node in a bar.
const (
	rowWithSigns    = 10.0
	rowWithOutlines = 8.0
	rowWithNode     = 15.0
)

// drawRows draws a row for each pod and returns where the next would begin.
func (p *plan) drawRows(c *canvas, pods []life.Pod, y float64) (foot float64) {
	every := max(1, int(math.Ceil(rowLabelled/p.row)))
	for i, pod := range pods {
		c.group(podTooltip(pod), func() {
			c.rect("hit", margin, y, p.x1-margin, p.row)
			if i%every == 0 && (every == 1 || i+every <= len(pods)) {
				c.text("muted end", p.x0-10, y+max(p.row, rowLabelled)/2+3.5, fit(pod.Label, 11, gutter-18))
			}
			p.drawPod(c, pod, y)
		})
		y += p.row
	}
	return y
}

func podTooltip(pod life.Pod) string {
	lines := []string{pod.Name}
	if pod.Node != "" {
		lines[0] += " on " + pod.Node
	}
	for _, span := range pod.Spans {
		text := fmt.Sprintf("%s: %s", seconds(span.From), span.State)
		if span.State == life.Failed && pod.Note != "" {
			text += ", " + pod.Note
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// drawPod draws what a pod did in the row at y.
func (p *plan) drawPod(c *canvas, pod life.Pod, y float64) {
	middle := y + p.row/2
	if last := len(pod.Spans) - 1; last >= 0 && pod.Last() == life.Gone {
		// Behind the sign of its end, which often is at the same time.
		x := p.x(pod.Spans[last].From)
		c.line("cut", x, middle-p.row*.35, x, middle+p.row*.35)
	}
	for _, span := range pod.Spans {
		from, to := p.x(span.From), p.x(span.To)
		switch {
		case span.State == life.Gone:
		case span.State.Ended():
			height := max(1.5, p.row*.2)
			if p.row < rowWithSigns {
				height = p.row * .5
			}
			c.rect(span.State.String(), from, middle-height/2, max(1, min(to, p.x1)-from), height)
			if p.row >= rowWithSigns {
				c.ending(span.State.String(), from, middle, min(markRadius, p.row*.32))
			}
		case p.visible(span):
			p.drawBar(c, pod, span, middle)
		}
	}
}

func (p *plan) drawBar(c *canvas, pod life.Pod, span life.Span, middle float64) {
	from, width, height := p.x(span.From), p.x(span.To)-p.x(span.From), p.row*.66
	class := span.State.String()
	if span.State == life.Waiting || span.State == life.Scheduled {
		// An outline lies on both sides of the edge.
		if p.row >= rowWithOutlines && width > 2 {
			c.rect(class, from+.5, middle-height/2+.5, width-1, height-1)
			return
		}
		class += " thin"
	}
	c.rect(class, from, middle-height/2, width, height)
	if span.State == life.Running && p.row >= rowWithNode && textWidth(pod.Node, 9)+18 < width {
		c.text("in", from+5, middle+3, pod.Node)
	}
}
