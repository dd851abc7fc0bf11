package timeline

import (
	"strings"
	"time"
)

// mostTicks is how many intervals the axis has at most.
const mostTicks = 9

// tickStep returns the interval between the ticks of an axis that lasts so long.
func tickStep(length time.Duration) time.Duration {
	for unit := time.Microsecond; unit < time.Second; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if length <= n*unit*mostTicks {
				return n * unit
			}
		}
	}
	for _, step := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if length <= step*mostTicks {
			return step
		}
	}
	step := 24 * time.Hour
	for length > step*mostTicks {
		step *= 2
	}
	return step
}

// ticks returns the times of the ticks of an axis, from zero on.
func ticks(length time.Duration) []time.Duration {
	step := tickStep(length)
	var times []time.Duration
	for at := time.Duration(0); at <= length; at += step {
		times = append(times, at)
	}
	return times
}

// clock writes a time as the axis does: 0s, 1.5s, 2m, 1h30m.
func clock(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
