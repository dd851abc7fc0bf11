package timeline_test

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/examples/run-job/internal/timeline"
)

// A browser shows the picture as it is meant, in both themes: the paper at a corner, and the first long bar.
func TestABrowserShowsThePicture(t *testing.T) {
	t.Parallel()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" || testing.Short() {
		t.Skip("there is no Chromium here, or no time for it")
	}
	file := filepath.Join(t.TempDir(), "picture.svg")
	require.NoError(t, os.WriteFile(file, timeline.Draw(twoGangs(), timeline.Options{}), 0o600))
	for theme, tc := range map[string]struct {
		setting    string // of Blink: 0 is dark, 1 is light
		paper, bar color.NRGBA
	}{
		"light": {"1", color.NRGBA{0xff, 0xff, 0xff, 0xff}, color.NRGBA{0x09, 0x69, 0xda, 0xff}},
		"dark":  {"0", color.NRGBA{0x0d, 0x11, 0x17, 0xff}, color.NRGBA{0x44, 0x93, 0xf8, 0xff}},
	} {
		shot := screenshot(t, browser, file, tc.setting)
		assert.Equal(t, tc.paper, at(shot, 8, 60), "paper in the %s theme", theme)
		found := false
		for y := range shot.Bounds().Dy() {
			found = found || at(shot, 550, y) == tc.bar
		}
		assert.True(t, found, "a running pod in the %s theme", theme)
	}
}

func at(picture image.Image, x, y int) color.Color {
	return color.NRGBAModel.Convert(picture.At(x, y))
}

func screenshot(t *testing.T, browser, file, theme string) image.Image {
	t.Helper()
	out := filepath.Join(t.TempDir(), "shot.png")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=960,400",
		"--user-data-dir="+t.TempDir(), "--blink-settings=preferredColorScheme="+theme, "--screenshot="+out, "file://"+file)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the browser does not work here: %v: %.500s", err, text)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Skipf("the browser has made no picture: %v", err)
	}
	defer func() { _ = f.Close() }()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	return picture
}
