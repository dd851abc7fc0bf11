package progress

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vbauerster/cupwriter"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// mostLines is how many lines a frame has at most: it is to leave room for what is printed above.
const mostLines = 14

// refresh is how often a frame is drawn.
const refresh = 100 * time.Millisecond

// IsTerminal reports whether what is written goes to a terminal.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// StyleOf is what a terminal can show, as far as the environment tells: https://no-color.org, and the letters of the
// locale. In those of East Asia the signs of cells may be two columns wide, and are not used.
func StyleOf(getenv func(string) string) Style {
	locale := getenv("LC_ALL")
	for _, name := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = getenv(name)
		}
	}
	upper := strings.ToUpper(locale)
	unicodeLetters := strings.Contains(upper, "UTF-8") || strings.Contains(upper, "UTF8")
	for _, wide := range []string{"ja", "ko", "zh"} {
		unicodeLetters = unicodeLetters && !strings.HasPrefix(locale, wide)
	}
	return Style{Color: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb", ASCII: !unicodeLetters}
}

// Live keeps a frame on a terminal. What is to be printed meanwhile must be written to it.
type Live struct {
	out  io.Writer
	bars *mpb.Progress
	bar  *mpb.Bar
}

// Start begins to show a state below what is written to the returned Live, until its Stop is called. The state is asked for
// time and again, from a goroutine of its own, which must not write to the Live. If out is no terminal, it is written to
// as if it were one of 80 columns.
func Start(out io.Writer, style Style, state func() State) (*Live, error) {
	l := &Live{out: out}
	l.bars = mpb.New(mpb.WithConsoleWriter(console{cupwriter.New(out, true)}), mpb.WithAutoRefresh(), mpb.WithRefreshRate(refresh))
	var lines []string // of this frame, the last of them last
	draw := func(row int) mpb.BarFiller {
		return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
			if row == 0 { // it is drawn first
				// Some terminals begin a new line once the last column is full.
				lines = Frame(state(), stat.AvailableWidth-1, linesOf(out), style)
			}
			// A short frame is at the foot: rows at the top that have nothing to say are none.
			at := row - (mostLines - len(lines))
			if at < 0 {
				return nil
			}
			text := lines[at]
			if row < mostLines-1 {
				text += "\n" // the last row has one already
			}
			_, err := io.WriteString(w, text)
			return err
		})
	}
	var above []mpb.BarFiller // from the last but one up
	for row := mostLines - 2; row >= 0; row-- {
		above = append(above, draw(row))
	}
	bar, err := l.bars.Add(0, draw(mostLines-1), mpb.BarFillerTrim(), mpb.BarTopExtender(above...))
	if err != nil {
		l.bars.Shutdown()
		return nil, err
	}
	l.bar = bar
	return l, nil
}

// console is a terminal that always has room for every row of the bar, most of which are empty: the frames see to it that
// the others fit.
type console struct{ *cupwriter.Writer }

// GetTermSize implements mpb.ConsoleWriter.
func (c console) GetTermSize() (width, height int, err error) {
	width, height, err = c.Writer.GetTermSize()
	return width, max(height, mostLines), err
}

// linesOf is how many lines a frame may have.
func linesOf(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if _, height, err := term.GetSize(int(file.Fd())); err == nil {
			return min(mostLines, height-1)
		}
	}
	return mostLines
}

// Write prints above the frame. Once the Live is stopped it prints as if there had been none.
func (l *Live) Write(text []byte) (int, error) {
	n, err := l.bars.Write(text)
	if done := (mpb.ErrDone[*mpb.Progress]{}); errors.As(err, &done) {
		return l.out.Write(text)
	}
	return n, err
}

// Stop takes the frame off the terminal, and returns when everything that was written is there.
func (l *Live) Stop() {
	l.bar.Abort(true)
	l.bars.Wait()
}
