package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//nolint:gochecknoglobals // a flag of the test
var update = flag.Bool("update", false, "write the picture in docs anew")

// gangsArgs is what the picture in docs shows.
func gangsArgs() []string {
	return []string{"-f", "gangs.yaml", "--nodes", "2", "--pod-duration", "8s", "--fail", "2=1", "--backoff", "2s"}
}

// drawInBubble plays a manifest in virtual time and returns the picture of it.
func drawInBubble(t *testing.T, manifest string, args ...string) (picture string, res result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "timeline.svg")
	res = playInBubble(t, manifest, append(args, "--timeline", file)...)
	text, err := os.ReadFile(file)
	require.NoError(t, err, res.stderr)
	return string(text), res
}

// sameNames gives what has random letters in its name others, in the order in which they come. Whether a gang had been seen
// on its nodes when the next one was told that it has no room is chance, too, and not in the picture.
func sameNames(picture string) string {
	picture = regexp.MustCompile(`; room is held by [^()]* \([0-9] pods?\)`).ReplaceAllString(picture, "")
	pods := regexp.MustCompile(`\b((?:first|second)-[0-9])-[a-z0-9]{5}\b`)
	groups := regexp.MustCompile(`\b(first|second)-[a-z0-9]{6,10}(-(first|second)-pgt-0-[a-z0-9]{6,10})?\b`)
	names := map[string]string{}
	for _, random := range []*regexp.Regexp{groups, pods} {
		picture = random.ReplaceAllStringFunc(picture, func(name string) string {
			if names[name] == "" {
				names[name] = fmt.Sprintf("%s-%05d", random.FindStringSubmatch(name)[1], len(names)+1)
			}
			return names[name]
		})
	}
	return picture
}

// The picture in docs is what the program draws.
func TestThePictureInTheDocs(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("gangs.yaml")
	require.NoError(t, err)
	picture, res := drawInBubble(t, string(manifest), gangsArgs()...)
	require.Equal(t, exitDone, res.code, res.stderr)
	picture = sameNames(picture)
	const file = "gangs.svg"
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))     //nolint:gosec // as of all folders of the repository
		require.NoError(t, os.WriteFile(file, []byte(picture), 0o644)) //nolint:gosec // it is to be shown
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), picture); diff != "" {
		t.Errorf("%s shows something else; go test -run %s -update draws it anew (-want +got):\n%s", file, t.Name(), diff)
	}
}

func TestAPictureOfALostNode(t *testing.T) {
	t.Parallel()
	picture, res := drawInBubble(t, string(embeddedJob), "--lose", "node-1=3s+17s", "--pod-duration", "30s")
	require.Equal(t, exitDone, res.code, res.stderr)
	for _, want := range []string{
		`<title id="title">run-job --lose node-1=3s+17s --pod-duration 30s</title>`,
		`Complete: 4/4 succeeded, `,
		`>node-1 not Ready</text>`, `>node-1 Ready +1</text>`,
		`3.000s: node node-1: lost: its kubelet neither hears nor reports, for 17s`,
		`>index 0, pod 2</text>`,
		`<rect class="lost"`,
		`: lost&#xA;`,
	} {
		assertIn(t, picture, want)
	}
}

// assertIn says that a picture has something, without showing all of it when not.
func assertIn(t *testing.T, picture, want string) {
	t.Helper()
	assert.True(t, strings.Contains(picture, want), "there is no %s", want)
}

func TestAPictureIsDrawnAlsoOfWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("gangs.yaml")
	require.NoError(t, err)
	picture, res := drawInBubble(t, string(manifest), "--nodes", "1", "--timeout", "20s")
	require.Equal(t, exitFailed, res.code, res.stderr)
	assertIn(t, picture, "job default/first: 0/4 succeeded, 0 failed; pods: 4 waiting.")
	assertIn(t, picture, ">no room +1</text>")
	assertIn(t, picture, "8 pods, 20.0")
}

func TestPicturesThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tooLong := filepath.Join(folder, strings.Repeat("x", 256)+".svg")
	for file, want := range map[string]string{
		folder:                                "--timeline " + folder + ": is a folder: want a file, such as " + filepath.Join(folder, "timeline.svg"),
		filepath.Join(folder, "no", "it.svg"): "there is no folder " + filepath.Join(folder, "no"),
		filepath.Join(folder, "x.png"):        "x.png: it is an SVG that is drawn: want a name that ends in .svg, such as " + filepath.Join(folder, "x.svg") + "\n",
		filepath.Join(folder, "x"):            "such as " + filepath.Join(folder, "x.svg") + "\n",
		tooLong:                               "--timeline " + tooLong + ": file name too long: want a file that can be written\n",
	} {
		res := runProgram(t, "", "--timeline", file)
		assert.Equal(t, exitUsage, res.code)
		assert.Contains(t, res.stderr, want)
	}
}

func TestTryingToWriteChangesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "old.svg")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, checkDrawing(file))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	require.NoError(t, checkDrawing(filepath.Join(folder, "new.svg")))
	assert.NoFileExists(t, filepath.Join(folder, "new.svg"))
}

func TestATitleIsTheCommand(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "run-job -f a.yaml --nodes 2", drawingTitle([]string{"-f", "a.yaml", "--timeline", "x.svg", "--nodes", "2", "--timeline=y.svg"}))
	assert.Equal(t, "run-job", drawingTitle([]string{"--timeline"}))
}
