package layers

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = Module

// TestModuleKeepsItsFloors checks the packages of this module.
func TestModuleKeepsItsFloors(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	touchFolders(t, root)

	graph, err := Load(t.Context(), root)
	require.NoError(t, err)
	require.Contains(t, graph, module+"/apis/scheduling/v1alpha2")
	require.Contains(t, graph, "k8s.io/apimachinery/pkg/runtime")

	for _, fault := range Check(module, graph, Rules(), Bans()) {
		t.Error(fault)
	}
}

// touchFolders opens every folder of the module, so that go test does not answer from its cache when a file has changed
// that only the go command of Load has read.
func touchFolders(t *testing.T, root string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	require.NoError(t, err)
}

func TestCheck(t *testing.T) {
	// Each package that is named is in the graph; "std/…" is not, as if it were of the standard library.
	cases := map[string]struct {
		imports map[string][]string
		want    []string
	}{
		"arrows to lower floors are fine": {
			imports: map[string][]string{
				module + "/pkg/cluster":  {module + "/pkg/emulator", module + "/pkg/controller/job"},
				module + "/pkg/emulator": {module + "/pkg/batch", "k8s.io/apiserver/pkg/server"},
				module + "/pkg/batch":    {module + "/pkg/core", "std/fmt"},
			},
		},
		"an arrow back is reported": {
			imports: map[string][]string{module + "/pkg/core": {module + "/pkg/batch"}},
			want:    []string{"pkg/core → pkg/batch: pkg/core may import of this module only pkg/features, pkg/internal/metadata"},
		},
		"an arrow from a package that may import nothing is reported": {
			imports: map[string][]string{module + "/pkg/features": {module + "/pkg/core"}},
			want:    []string{"pkg/features → pkg/core: pkg/features may import of this module nothing"},
		},
		"an arrow between two controllers is reported": {
			imports: map[string][]string{module + "/pkg/controller/ttl": {module + "/pkg/controller/job"}},
			want: []string{"pkg/controller/ttl → pkg/controller/job: pkg/controller/* may import of this module only " +
				"generated, pkg/internal/check, pkg/internal/guard, apis, pkg/features, pkg/runonce, pkg/core, pkg/batch, pkg/validation, pkg/builder, pkg/internal/queuemetrics"},
		},
		"inside a unit imports are free": {
			imports: map[string][]string{
				module + "/pkg/controller/job":             {module + "/pkg/controller/job/internal/sync"},
				module + "/pkg/emulator":                   {module + "/pkg/emulator/internal/etcdmem"},
				module + "/pkg/emulator/internal/etcdmem":  {module + "/pkg/emulator/internal/mvcc"},
				module + "/generated/clientset/versioned":  {module + "/generated/applyconfiguration/internal"},
				module + "/pkg/emulator/internal/registry": {module + "/pkg/validation"},
			},
		},
		"an internal unit is open to those who list it": {
			imports: map[string][]string{
				module + "/pkg/core":  {module + "/pkg/internal/metadata"},
				module + "/pkg/batch": {module + "/pkg/internal/metadata"},
			},
			want: []string{"pkg/batch → pkg/internal/metadata: pkg/batch may import of this module only pkg/core, pkg/features"},
		},
		"another unit's internal packages are closed, also from above": {
			imports: map[string][]string{module + "/pkg/cluster": {module + "/pkg/emulator/internal/mvcc"}},
			want: []string{"pkg/cluster → pkg/emulator/internal/mvcc: pkg/cluster may import of this module only " +
				strings.Join(upToFloor4, ", ")},
		},
		"a rule for one folder does not open its neighbours": {
			imports: map[string][]string{module + "/pkg/validation": {
				module + "/generated/validation/scheduling/v1alpha2", module + "/generated/clientset/versioned",
			}},
			want: []string{"pkg/validation → generated/clientset/versioned: pkg/validation may import of this module only " +
				"apis, generated/validation, pkg/features, pkg/internal/metadata"},
		},
		"apis import apimachinery alone": {
			imports: map[string][]string{module + "/apis/scheduling/v1alpha2": {
				"std/fmt", "k8s.io/apimachinery/pkg/runtime", "k8s.io/apimachinery-more", "k8s.io/api/core/v1",
			}},
			want: []string{
				"apis/scheduling/v1alpha2 → k8s.io/apimachinery-more: apis may import of other modules only k8s.io/apimachinery",
				"apis/scheduling/v1alpha2 → k8s.io/api/core/v1: apis may import of other modules only k8s.io/apimachinery",
			},
		},
		"the server library below floor 4 is reported with the way to it, once": {
			imports: map[string][]string{
				module + "/pkg/scheduler": {module + "/pkg/core", "k8s.io/apiserver-network-proxy"},
				module + "/pkg/core":      {"k8s.io/helpers", "k8s.io/other"},
				"k8s.io/helpers":          {"k8s.io/more-helpers", "k8s.io/apiserver/pkg/storage"},
				"k8s.io/more-helpers":     {"k8s.io/apiserver/pkg/server"},
			},
			want: []string{"pkg/core → k8s.io/helpers → k8s.io/apiserver/pkg/storage: the API server library brings some " +
				"800 packages; only pkg/emulator and what is above it may have them"},
		},
		"a pure package that reaches a client is reported": {
			imports: map[string][]string{
				module + "/pkg/builder":   {"k8s.io/helpers"},
				"k8s.io/helpers":          {"k8s.io/client-go/kubernetes"},
				module + "/pkg/scheduler": {"k8s.io/client-go/kubernetes"},
			},
			want: []string{"pkg/builder → k8s.io/helpers → k8s.io/client-go/kubernetes: what is pure has no clients"},
		},
		"a client that reaches the OpenAPI definitions is reported, a server is not": {
			imports: map[string][]string{
				module + "/generated/clientset/versioned": {module + "/generated/applyconfiguration"},
				module + "/generated/applyconfiguration":  {module + "/generated/openapi"},
				module + "/pkg/emulator":                  {module + "/generated/openapi"},
			},
			want: []string{"generated/applyconfiguration → generated/openapi: who has a client need not link the OpenAPI " +
				"definitions of all of Kubernetes"},
		},
		"k8s.io/kubernetes is reported on every floor": {
			imports: map[string][]string{module + "/examples/serve": {"k8s.io/kubernetes/pkg/apis/core"}},
			want:    []string{"examples/serve → k8s.io/kubernetes/pkg/apis/core: it is not made to be imported"},
		},
		"examples do not lean on one another": {
			imports: map[string][]string{module + "/examples/serve": {module + "/examples/run-job"}},
			want: []string{"examples/serve → examples/run-job: examples/* may import of this module only " +
				strings.Join(upToFloor5, ", ")},
		},
		"a package without a rule is reported": {
			imports: map[string][]string{module + "/pkg/controller": {}, module + "/pkg/util": {}, module: {}},
			want: []string{
				"pkg/controller: no rule covers it: give it a row in pkg/internal/layers",
				"pkg/util: no rule covers it: give it a row in pkg/internal/layers",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			graph := Graph{}
			for pkg, imports := range tc.imports {
				graph[pkg] = imports
				for _, imported := range imports {
					if _, known := tc.imports[imported]; !known && !strings.HasPrefix(imported, "std/") {
						graph[imported] = nil
					}
				}
			}
			assert.Equal(t, tc.want, Check(module, graph, Rules(), Bans()))
		})
	}
}

// TestRulesPointDown holds the table itself to the floors: within floors 0 to 2 packages may lean on neighbours, above
// that every arrow goes down.
func TestRulesPointDown(t *testing.T) {
	rules := Rules()
	floors := map[string]int{"generated/validation": 1}
	for _, rule := range rules {
		floors[rule.Unit] = rule.Floor
	}
	for _, rule := range rules {
		for _, target := range rule.May {
			floor, known := floors[target]
			require.True(t, known, "%s names %s, which has no rule", rule.Unit, target)
			if rule.Floor <= 2 {
				assert.LessOrEqual(t, floor, rule.Floor, "%s → %s", rule.Unit, target)
			} else {
				assert.Less(t, floor, rule.Floor, "%s → %s", rule.Unit, target)
			}
		}
	}
}

func TestParseKeepsStandardLibraryOut(t *testing.T) {
	graph, err := parse(strings.NewReader(`{"ImportPath": "fmt", "Standard": true, "Imports": ["io"]}
		{"ImportPath": "example.com/a", "Imports": ["fmt", "example.com/b"]}`))
	require.NoError(t, err)
	assert.Equal(t, Graph{"example.com/a": {"fmt", "example.com/b"}}, graph)

	_, err = parse(strings.NewReader(`{"ImportPath"`))
	assert.ErrorContains(t, err, "decoding the list of packages")
}
