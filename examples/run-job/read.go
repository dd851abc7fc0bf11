package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinName stands for standard input after -f.
const stdinName = "-"

// extensions are those of the files of a folder that are manifests, in small or capital letters.
var extensions = []string{".yaml", ".yml", ".json"}

// manifests are the objects of all that -f names.
type manifests struct {
	docs []document
	// hints are what a folder has that was not read.
	hints []string
}

// readManifests reads every object of the named files, folders and standard input ("-"); of the embedded Job when none
// is named. Every fault of every file is reported, not only the first. It returns ctx's error when that ends before: a
// terminal or a FIFO may never have anything to read.
func readManifests(ctx context.Context, names []string, stdin io.Reader) (manifests, error) {
	if len(names) == 0 {
		docs, err := parseManifest("embedded job.yaml", embeddedJob)
		return manifests{docs: docs}, err
	}
	var out manifests
	var faults []error
	var read []string
	for _, name := range names {
		sources, hint, err := expand(name)
		faults = append(faults, err)
		if hint != "" {
			out.hints = append(out.hints, hint)
		}
		for _, source := range sources {
			if source == stdinName && slices.Contains(read, displayName(source)) {
				faults = append(faults, errors.New("standard input: is named twice, and can be read once"))
				continue
			}
			data, err := readSource(ctx, source, stdin)
			if ctx.Err() != nil {
				return manifests{}, ctx.Err()
			}
			read = append(read, displayName(source))
			if err != nil {
				faults = append(faults, err)
				continue
			}
			parsed, err := parseManifest(displayName(source), data)
			out.docs, faults = append(out.docs, parsed...), append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return manifests{}, err
	}
	if len(out.docs) == 0 {
		return manifests{}, fmt.Errorf("%s: no objects in it", strings.Join(read, ", "))
	}
	return out, nil
}

// expand returns the manifest files that a -f names, and a hint at what else is there.
func expand(name string) (files []string, hint string, err error) {
	if name == stdinName {
		return []string{name}, "", nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", fmt.Errorf("reading manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, "", nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, "", fmt.Errorf("reading folder: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		switch {
		case entry.IsDir() && !strings.HasPrefix(entry.Name(), "."):
			folders = append(folders, entry.Name())
		case !entry.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(entry.Name()))):
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	if len(folders) > 0 {
		hint = "folders in a folder are not read: " + few(folders)
	}
	if len(files) == 0 {
		return nil, "", errors.New(joined(name, "no .yaml, .yml or .json file in this folder", hint))
	}
	if hint != "" {
		hint = joined(name, hint)
	}
	return files, hint, nil
}

// readSource reads a file or standard input until ctx ends. What then still reads ends with the process: nothing else
// ends the read of a terminal.
func readSource(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	var data []byte
	var err error
	read := make(chan struct{})
	go func() {
		defer close(read)
		if name == stdinName {
			data, err = io.ReadAll(stdin)
		} else {
			data, err = os.ReadFile(name)
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case err == nil:
		return data, nil
	case name == stdinName:
		return nil, fmt.Errorf("reading standard input: %w", err)
	default:
		return nil, fmt.Errorf("reading manifest: %w", err)
	}
}

func displayName(name string) string {
	if name == stdinName {
		return "standard input"
	}
	return name
}
