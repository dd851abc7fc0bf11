// Package timeline draws the life of the pods of a run as an SVG: a row for each pod, coloured by what it does, with the
// moments at which gangs are admitted, Jobs end and nodes are lost.
//
// [Draw] is the entry point. It is a pure function: the same life gives the same bytes.
//
//	picture := timeline.Draw(recorded, timeline.Options{})
//
// The picture stands by itself: no script, no font and no other file belongs to it, so that it can be shown by a browser,
// by an <img>, and in a README on GitHub. It follows the light or dark theme of whoever looks at it, has a description for
// screen readers, and shows what a row or mark is when the pointer rests on it.
//
// Its height has a bound. Rows get thinner the more pods there are; of those that still do not fit, it shows how many were
// in each state at each time. Nothing is left out without a word.
package timeline
