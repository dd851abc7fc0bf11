package timeline_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/examples/run-job/internal/timeline"
)

//nolint:gochecknoglobals // a flag of the test
var update = flag.Bool("update", false, "write the pictures in testdata anew")

const s = time.Second

func pod(name, node string, spans ...life.Span) life.Pod {
	return life.Pod{Name: name, Label: name, Node: node, Spans: spans}
}

// twoGangs is a life in which everything happens.
func twoGangs() life.Life {
	return life.Life{
		Title: "two gangs & a lost node", End: 20 * s,
		Nodes: []life.Mark{
			{At: 6 * s, Kind: life.Bad, Label: "node-1 lost", Text: "node node-1: lost"},
			{At: 15 * s, Kind: life.Good, Label: "node-1 Ready", Text: "node node-1: Ready"},
		},
		Sections: []life.Section{
			{
				Name: "job default/first", Note: "Complete: 2/2 succeeded, 1 failed",
				Marks: []life.Mark{
					{At: 0, Kind: life.Admitted, Label: "admitted", Text: "podgroup first: PodGroupScheduled: Scheduled"},
					{At: 14 * s, Kind: life.Note, Label: "SuccessCriteriaMet", Text: "SuccessCriteriaMet"},
					{At: 14 * s, Kind: life.Good, Label: "Complete", Text: "Complete: CompletionsReached"},
				},
				Pods: []life.Pod{
					pod("first-0", "node-1", life.Span{State: life.Waiting, To: s}, life.Span{State: life.Scheduled, From: s, To: 2 * s}, life.Span{State: life.Running, From: 2 * s, To: 6 * s}, life.Span{State: life.Lost, From: 6 * s, To: 15 * s}, life.Span{State: life.Gone, From: 15 * s, To: 20 * s}),
					pod("first-1", "node-2", life.Span{State: life.Running, From: 0, To: 4 * s}, life.Span{State: life.Failed, From: 4 * s, To: 20 * s}),
					pod("first-1 again", "node-2", life.Span{State: life.Running, From: 5 * s, To: 14 * s}, life.Span{State: life.Succeeded, From: 14 * s, To: 20 * s}),
				},
			},
			{
				Name: "job default/second", Note: "0/2 succeeded, 0 failed",
				Marks: []life.Mark{{At: s, Kind: life.Held, Label: "no room", Text: "PodGroupScheduled=False: Unschedulable"}},
				Pods: []life.Pod{
					pod("second-0", "", life.Span{State: life.Waiting, From: s, To: 20 * s}),
					pod("second-1", "", life.Span{State: life.Waiting, From: s, To: 8 * s}, life.Span{State: life.Terminating, From: 8 * s, To: 20 * s}),
				},
			},
		},
	}
}

// crowd is a life with so many Jobs of so many pods.
func crowd(jobs, pods int) life.Life {
	l := life.Life{Title: fmt.Sprintf("%d Jobs of %d pods", jobs, pods), End: 100 * s}
	for j := range jobs {
		section := life.Section{
			Name: fmt.Sprintf("job default/crowd-%d", j), Note: "Complete",
			Marks: []life.Mark{{At: time.Duration(j) * s, Kind: life.Admitted, Label: "admitted", Text: "admitted"}},
		}
		for i := range pods {
			start := time.Duration(j)*s + time.Duration(i%37)*s/10
			ends := start + 20*s + time.Duration(i*i%50)*s
			state := life.Succeeded
			if i%100 == 99 {
				state = life.Failed
			}
			section.Pods = append(section.Pods, pod(fmt.Sprintf("index %d", i), "node-7",
				life.Span{State: life.Waiting, From: start, To: start + 5*s}, life.Span{State: life.Running, From: start + 5*s, To: ends}, life.Span{State: state, From: ends, To: 100 * s}))
		}
		l.Sections = append(l.Sections, section)
	}
	return l
}

func hostile() life.Life {
	evil := "</text><script>alert('\"&\x00\xff</script>]]>" + strings.Repeat("long", 40)
	return life.Life{
		Title: evil, End: s, Nodes: []life.Mark{{Kind: life.Bad, Label: evil, Text: evil}},
		Sections: []life.Section{{Name: evil, Note: evil, Marks: []life.Mark{{Kind: life.Note, Label: evil, Text: evil}}, Pods: []life.Pod{pod(evil, evil, life.Span{State: life.Running, To: s})}}},
	}
}

// lives are those that the tests draw, by the names of their files.
func lives() map[string]life.Life {
	together := life.Life{End: 3 * s, Sections: []life.Section{{Name: "job a", Pods: []life.Pod{pod("a", "n", life.Span{State: life.Failed, From: 3 * s, To: 3 * s})}}}}
	for i := range 40 {
		together.Sections[0].Marks = append(together.Sections[0].Marks, life.Mark{At: time.Duration(i) * s / 20, Kind: life.Kind(i%5 + 1), Label: "condition", Text: "text"})
	}
	return map[string]life.Life{
		"two gangs":         twoGangs(),
		"nothing":           {},
		"hostile names":     hostile(),
		"marks close by":    together,
		"thirty pods":       crowd(1, 30),
		"hundred pods":      crowd(2, 50),
		"hundreds of pods":  crowd(3, 110),
		"thousands of pods": crowd(2, 2500),
		"many Jobs":         crowd(60, 3),
	}
}

// element is a shape of a picture.
type element struct {
	name, class, text string
	attributes        map[string]string
}

func (e element) number(t *testing.T, attribute string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(e.attributes[attribute], 64)
	require.NoError(t, err, "%s of %+v", attribute, e)
	return f
}

// elements parses a picture, and fails the test if that is not possible.
func elements(t *testing.T, picture []byte) []element {
	t.Helper()
	var list []element
	var open []int
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			require.Empty(t, open)
			return list
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			e.class = e.attributes["class"]
			open = append(open, len(list))
			list = append(list, e)
		case xml.CharData:
			if len(open) > 0 {
				list[open[len(open)-1]].text += string(token)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// box is where an element is.
type box struct {
	left, top, right, bottom float64
	of                       element
}

func (b box) overlaps(other box) bool {
	const touch = .11 // what rounding may come to
	return b.left < other.right-touch && other.left < b.right-touch && b.top < other.bottom-touch && other.top < b.bottom-touch
}

// boxes returns where texts and rectangles are: texts as wide as in a wide font.
func boxes(t *testing.T, list []element) (texts, bars []box) {
	t.Helper()
	definitions := false
	for _, e := range list {
		definitions = definitions && e.name != "rect" || e.name == "defs" || e.name == "pattern"
		class := " " + e.class + " "
		switch {
		case e.name == "text":
			size := 11.0
			switch {
			case strings.Contains(class, " title "):
				size = 15
			case strings.Contains(class, " name "):
				size = 12
			case strings.Contains(class, " in "):
				size = 9
			}
			width := float64(len([]rune(e.text))) * size * .62
			x, y := e.number(t, "x"), e.number(t, "y")
			switch {
			case strings.Contains(class, " end "):
				x -= width
			case strings.Contains(class, " mid "):
				x -= width / 2
			}
			if strings.Contains(class, " in ") {
				continue // it is within a bar
			}
			texts = append(texts, box{x, y - size*.8, x + width, y + size*.2, e})
		case e.name == "rect" && e.attributes["x"] != "" && e.class != "paper" && e.class != "hit":
			x, y := e.number(t, "x"), e.number(t, "y")
			bars = append(bars, box{x, y, x + e.number(t, "width"), y + e.number(t, "height"), e})
		}
	}
	return texts, bars
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for name, l := range lives() {
		for _, options := range []timeline.Options{{}, {Width: 500, Height: 400}} {
			t.Run(fmt.Sprintf("%s %d", name, options.Width), func(t *testing.T) {
				t.Parallel()
				picture := timeline.Draw(l, options)
				assert.True(t, bytes.Equal(picture, timeline.Draw(l, options)), "the same life is drawn the same")
				list := elements(t, picture)
				width, height := list[0].number(t, "width"), list[0].number(t, "height")
				most := 1200.0
				if options.Height > 0 {
					most = float64(options.Height)
				}
				assert.LessOrEqual(t, height, most)
				assert.Less(t, len(picture), 600_000)
				texts, bars := boxes(t, list)
				for _, b := range append(texts, bars...) {
					assert.True(t, b.left >= 0 && b.top >= 0 && b.right <= width && b.bottom <= height, "%+v is outside of %v × %v", b, width, height)
				}
				assertApart(t, texts)
				assertApart(t, bars)
				for _, e := range list {
					assert.NotContains(t, []string{"script", "image", "use", "foreignObject", "a"}, e.name)
				}
			})
		}
	}
}

func assertApart(t *testing.T, list []box) {
	t.Helper()
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.overlaps(b) {
				t.Errorf("%+v lies over %+v", a, b)
				return
			}
		}
	}
}

func TestPictureOfTwoGangs(t *testing.T) {
	t.Parallel()
	compare(t, filepath.Join("testdata", "two-gangs.svg"), timeline.Draw(twoGangs(), timeline.Options{}))
	compare(t, filepath.Join("testdata", "crowd.svg"), timeline.Draw(crowd(2, 400), timeline.Options{Height: 400}))
}

func compare(t *testing.T, file string, picture []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, picture, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test -update makes it")
	if diff := cmp.Diff(string(want), string(picture)); diff != "" {
		t.Errorf("%s is drawn otherwise; go test -update writes it anew (-want +got):\n%s", file, diff)
	}
}

func TestAPictureCanBeReadAloud(t *testing.T) {
	t.Parallel()
	list := elements(t, timeline.Draw(twoGangs(), timeline.Options{}))
	assert.Equal(t, "img", list[0].attributes["role"])
	assert.Equal(t, "title description", list[0].attributes["aria-labelledby"])
	texts := map[string]string{}
	var tooltips []string
	for _, e := range list {
		texts[e.attributes["id"]] = e.text
		if e.name == "title" {
			tooltips = append(tooltips, e.text)
		}
	}
	assert.Equal(t, "two gangs & a lost node", texts["title"])
	assert.Equal(t, "What each pod did over 20.000s. job default/first: Complete: 2/2 succeeded, 1 failed; pods: 1 succeeded, 1 failed, 1 gone; gang admitted at 0.000s. "+
		"job default/second: 0/2 succeeded, 0 failed; pods: 1 waiting, 1 terminating. node-1 lost at 6.000s.", texts["description"])
	assert.Contains(t, tooltips, "first-0 on node-1\n0.000s: waiting\n1.000s: scheduled\n2.000s: running\n6.000s: lost\n15.000s: gone")
	assert.Contains(t, tooltips, "14.000s: SuccessCriteriaMet\n14.000s: Complete: CompletionsReached")
}

// Whatever has no row is counted, and what failed has one first.
func TestNothingIsLeftOutWithoutAWord(t *testing.T) {
	t.Parallel()
	l := crowd(2, 2500)
	all := string(timeline.Draw(l, timeline.Options{}))
	rows := strings.Count(all, "<g><title>index ")
	more := 0
	for part := range strings.SplitSeq(all, "<g><title>and ") {
		if n, err := strconv.Atoi(strings.SplitN(part, " more without rows", 2)[0]); err == nil {
			more += n
		}
	}
	assert.Equal(t, 5000, rows+more)
	assert.Equal(t, 50, strings.Count(all, ": failed</title>"+"\n")+strings.Count(all, ": failed</title>\r"), "each failed pod has a row")

	all = string(timeline.Draw(crowd(60, 3), timeline.Options{}))
	assert.Contains(t, all, "and 50 more, with 150 succeeded")
}
