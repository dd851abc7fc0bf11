package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// bandStep is how exact a band is, in pixels.
const bandStep = 2.0

// bandStates are the states of a band, from the bottom up.
func bandStates() []life.State {
	return []life.State{life.Succeeded, life.Failed, life.Running, life.Lost, life.Terminating, life.Scheduled, life.Waiting}
}

// drawBand draws how many of the pods without rows were in each state at each time.
func (p *plan) drawBand(c *canvas, s part, y float64) {
	what := "and %s without rows"
	if len(s.rows) == 0 {
		what = "%s, how many in each state"
	}
	total := plural(len(s.rest))
	if len(s.rows) > 0 {
		total = fmt.Sprintf("%d more", len(s.rest))
	}
	counts := life.Count(s.rest).String()
	c.group(fmt.Sprintf(what, total)+"\n"+counts, func() {
		c.rect("hit", margin, y, p.x1-margin, bandHeight)
		c.text("muted end", p.x0-10, y+18, total)
		c.text("muted end", p.x0-10, y+32, fit(counts, 11, gutter-18))
		p.drawAreas(c, s.rest, y+bandHeight-2, bandHeight-6)
	})
}

// drawAreas draws an area for each state on a foot, the whole of the pods as high as given.
func (p *plan) drawAreas(c *canvas, pods []life.Pod, foot, height float64) {
	samples := p.sample(pods)
	unit := height / float64(len(pods))
	below := make([]int, len(samples))
	for _, state := range bandStates() {
		var path strings.Builder
		for i, counts := range samples {
			n := counts[state]
			if n == 0 {
				continue
			}
			// Neighbours of the same height are one rectangle.
			last := i
			for last+1 < len(samples) && samples[last+1][state] == n && below[last+1] == below[i] {
				last++
			}
			if i > 0 && samples[i-1][state] == n && below[i-1] == below[i] {
				continue
			}
			from := p.x0 + float64(i)*bandStep
			to := min(p.x1, p.x0+float64(last+1)*bandStep)
			fmt.Fprintf(&path, "M%s %sH%sV%sH%sz", number(from), number(foot-float64(below[i])*unit), number(to),
				number(foot-float64(below[i]+n)*unit), number(from))
		}
		for i, counts := range samples {
			below[i] += counts[state]
		}
		if path.Len() > 0 {
			c.put(`<path class="%s thin" d="%s"/>`, state, path.String())
		}
	}
}

// sample counts pods by state, every few pixels.
func (p *plan) sample(pods []life.Pod) []life.Counts {
	n := int((p.x1-p.x0)/bandStep) + 1
	samples := make([]life.Counts, n)
	for i := range samples {
		at := time.Duration(float64(p.life.End) * float64(i) / float64(n-1))
		samples[i] = life.Counts{}
		for _, pod := range pods {
			if state, exists := pod.At(at); exists {
				samples[i][state]++
			}
		}
	}
	return samples
}
