package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/timeline"
)

// draw draws what was recorded into the file that the flags name, if they do.
func (f *follower) draw(opts options) error {
	if opts.timeline == "" {
		return nil
	}
	picture := timeline.Draw(f.life(opts.title, offset(time.Since(f.start))), timeline.Options{})
	if err := os.WriteFile(opts.timeline, picture, 0o644); err != nil { //nolint:gosec // a picture to be shown
		return fmt.Errorf("drawing the timeline: %w", err)
	}
	return nil
}

// checkDrawing says at once what would keep a drawing from being written in the end.
func checkDrawing(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("--timeline %s: is a folder: want a file, such as %s", file, filepath.Join(file, "timeline.svg"))
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return fmt.Errorf("--timeline %s: there is no folder %s", file, filepath.Dir(file))
	}
	if !strings.EqualFold(filepath.Ext(file), ".svg") {
		return fmt.Errorf("--timeline %s: it is an SVG that is drawn: want a name that ends in .svg, such as %s", file, strings.TrimSuffix(file, filepath.Ext(file))+".svg")
	}
	if err := tryToWrite(file); err != nil {
		return fmt.Errorf("--timeline %s: %w: want a file that can be written", file, err)
	}
	return nil
}

// tryToWrite returns why a file cannot be written to. One that is there is left as it is, and one that is not is not made.
func tryToWrite(file string) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return nil // to open a pipe may wait for its reader
	}
	missing := errors.Is(err, fs.ErrNotExist)
	opened, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // a picture to be shown
	if reason, ok := errors.AsType[*fs.PathError](err); ok {
		return reason.Err
	}
	if err != nil {
		return err
	}
	if missing {
		defer func() { _ = os.Remove(file) }()
	}
	return opened.Close()
}

// drawingTitle is the command that is drawn, without that it is.
func drawingTitle(args []string) string {
	args = slices.Clone(args)
	for i := 0; i < len(args); i++ {
		switch {
		case strings.HasPrefix(args[i], "--timeline="):
			args = slices.Delete(args, i, i+1)
			i--
		case args[i] == "--timeline":
			args = slices.Delete(args, i, min(i+2, len(args)))
			i--
		}
	}
	return strings.Join(append([]string{"run-job"}, args...), " ")
}
