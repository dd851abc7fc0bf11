package timeline

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// canvas is the text of an SVG that grows.
type canvas struct{ bytes.Buffer }

// number writes a coordinate to a tenth of a pixel.
func number(f float64) string {
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
}

// escaped makes a text one that can stand in XML. What cannot is replaced.
func escaped(text string) string {
	var out strings.Builder
	// The error is that of the writer, which has none.
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}

// put writes formatted text; strings in it must have been escaped.
func (c *canvas) put(format string, args ...any) {
	fmt.Fprintf(c, format, args...)
	c.WriteByte('\n')
}

func (c *canvas) rect(class string, x, y, width, height float64) {
	c.put(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, number(x), number(y), number(width), number(height))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.put(`<path class="%s" d="M%s %sL%s %s"/>`, class, number(x1), number(y1), number(x2), number(y2))
}

func (c *canvas) text(class string, x, y float64, text string) {
	c.put(`<text class="%s" x="%s" y="%s">%s</text>`, class, number(x), number(y), escaped(text))
}

// group writes what draw does as one thing with a tooltip.
func (c *canvas) group(tooltip string, draw func()) {
	c.put(`<g><title>%s</title>`, escaped(tooltip))
	draw()
	c.put(`</g>`)
}

// The width of a letter over the size of the font: about the widest that a sans-serif font has on average.
const letterWidth = 0.62

// textWidth is how wide a text is at most, roughly.
func textWidth(text string, size float64) float64 {
	return float64(utf8.RuneCountInString(text)) * size * letterWidth
}

// fit shortens a text to a width, in its middle: the ends of names are what tells them apart.
func fit(text string, size, width float64) string {
	letters := []rune(text)
	most := int(width / (size * letterWidth))
	switch {
	case len(letters) <= most:
		return text
	case most <= 1:
		return ""
	}
	head := (most - 1) / 2
	tail := most - 1 - head
	return string(letters[:head]) + "…" + string(letters[len(letters)-tail:])
}
