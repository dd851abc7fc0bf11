package layers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// A Graph holds the direct imports of each package, by import path. Packages of the standard library are not in it.
type Graph map[string][]string

// Load reads the graph of every package of the module in dir, and of all that they import, tests left aside. It runs
// the go command.
func Load(ctx context.Context, dir string) (Graph, error) {
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...")
	command.Dir = dir
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("listing packages of %s: %w\n%s", dir, err, stderr.String())
	}
	return parse(&stdout)
}

// parse reads the JSON objects that go list prints, one after another.
func parse(list io.Reader) (Graph, error) {
	graph := Graph{}
	for decoder := json.NewDecoder(list); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return graph, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding the list of packages: %w", err)
		}
		if !pkg.Standard {
			graph[pkg.ImportPath] = pkg.Imports
		}
	}
}
