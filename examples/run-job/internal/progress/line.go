package progress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is a line of text in parts, each with a colour.
type line struct{ parts []part }

type part struct{ color, text string }

// add appends a text; what is no letter that can be seen is replaced, so that a name cannot move the cursor.
func (l *line) add(color, text string) {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if n := len(l.parts); n > 0 && l.parts[n-1].color == color {
		l.parts[n-1].text += text
		return
	}
	l.parts = append(l.parts, part{color, text})
}

// render returns the line, shortened to a width if it is longer.
func (l *line) render(width int, ascii bool) string {
	total := 0
	for _, p := range l.parts {
		total += utf8.RuneCountInString(p.text)
	}
	dots := ellipsis(ascii)
	left := width
	if total > width {
		left -= utf8.RuneCountInString(dots)
	}
	var out strings.Builder
	for _, p := range l.parts {
		letters := []rune(p.text)
		letters = letters[:max(0, min(len(letters), left))]
		left -= len(letters)
		switch {
		case len(letters) == 0:
		case p.color == "":
			out.WriteString(string(letters))
		default:
			out.WriteString("\x1b[" + p.color + "m" + string(letters) + "\x1b[0m")
		}
	}
	if total > width {
		out.WriteString(dots)
	}
	return strings.TrimRight(out.String(), " ")
}

func ellipsis(ascii bool) string {
	if ascii {
		return "~"
	}
	return "…"
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// shorten shortens a name in its middle: the ends of names are what tells them apart.
func shorten(text string, width int, ascii bool) string {
	letters := []rune(text)
	if len(letters) <= width {
		return text
	}
	head := (width - 1) / 2
	return string(letters[:head]) + ellipsis(ascii) + string(letters[len(letters)-(width-1-head):])
}
