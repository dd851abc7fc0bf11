package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows are the rows of a table: the values by column.
type rows []map[string]any

// bench runs the program and returns the tables that it prints as JSON.
func bench(t *testing.T, args ...string) map[string]rows {
	t.Helper()
	var out, complaints bytes.Buffer
	code := run(t.Context(), append(args, "--output", "json"), &out, &complaints)
	require.Equal(t, exitDone, code, complaints.String())
	assert.Empty(t, complaints.String())
	tables := map[string]rows{}
	require.NoError(t, json.Unmarshal(out.Bytes(), &tables))
	return tables
}

// column returns one value of each row.
func (r rows) column(name string) []any {
	values := make([]any, len(r))
	for i, row := range r {
		values[i] = row[name]
	}
	return values
}

// writes returns the counts of a table of writes as "client verb resource".
func (r rows) writes() map[string]float64 {
	counts := map[string]float64{}
	for _, row := range r {
		counts[strings.Join([]string{row["client"].(string), row["verb"].(string), row["resource"].(string)}, " ")] = row["count"].(float64)
	}
	return counts
}

func TestJobsAreRunAndTheirWritesCounted(t *testing.T) {
	tables := bench(t, "jobs", "--jobs", "2", "--pods", "3", "--completions", "5", "--parallelism", "2")
	speeds := tables["Jobs to Complete"]
	assert.Equal(t, []any{"plain", "gang", "indexed"}, speeds.column("mode"))
	assert.Equal(t, []any{2.0, 2.0, 1.0}, speeds.column("jobs"))
	assert.Equal(t, []any{6.0, 6.0, 5.0}, speeds.column("pods"))
	for _, row := range speeds {
		// Each pod is created, ends and is released.
		assert.GreaterOrEqual(t, row["writes/pod"], 3.0, row["mode"])
	}

	plain, gang, indexed := tables["Writes, plain"].writes(), tables["Writes, gang"].writes(), tables["Writes, indexed"].writes()
	for mode, writes := range map[string]map[string]float64{"plain": plain, "gang": gang, "indexed": indexed} {
		want := map[string]float64{"plain": 6, "gang": 6, "indexed": 5}[mode]
		for _, write := range []string{"job controller create pods", "job controller patch pods", "kubelet patch pods/status"} {
			assert.InDelta(t, want, writes[write], 0, "%s: %s", mode, write)
		}
		assert.Positive(t, writes["job controller update jobs/status"], mode)
	}
	assert.NotContains(t, plain, "job controller create podgroups")
	assert.InDelta(t, 2.0, gang["job controller create workloads"], 0)
	assert.InDelta(t, 2.0, gang["job controller create podgroups"], 0)
}

func TestJobsAreRunOnNodes(t *testing.T) {
	tables := bench(t, "jobs", "--jobs", "2", "--pods", "3", "--completions", "5", "--parallelism", "2", "--nodes", "2", "--sync-delay", "1ms")
	assert.Equal(t, []any{"plain", "gang", "indexed"}, tables["Jobs to Complete"].column("mode"))
	for _, name := range []string{"Writes, plain", "Writes, gang", "Writes, indexed"} {
		assert.Contains(t, tables[name].writes(), "scheduler create pods/binding", name)
	}
}

func TestModesCanBeChosen(t *testing.T) {
	tables := bench(t, "jobs", "--jobs", "1", "--pods", "1", "--modes", "gang")
	assert.Equal(t, []any{"gang"}, tables["Jobs to Complete"].column("mode"))
	assert.Len(t, tables, 2)
}

func TestGarbageIsCollected(t *testing.T) {
	tables := bench(t, "gc", "--dependents", "3", "--objects", "4")
	deletions := tables["Deletion until all is gone"]
	assert.Equal(t, []any{"owner, background", "owner, foreground", "namespace"}, deletions.column("what"))
	assert.Equal(t, []any{3.0, 3.0, 4.0}, deletions.column("objects"))
}

func TestRequestsAreMeasured(t *testing.T) {
	tables := bench(t, "api", "--starts", "2", "--objects", "3", "--watchers", "2")
	assert.Equal(t, []any{1.0, 2.0}, tables["Starts"].column("count"))
	requests := []any{"create", "get", "list 100", "list all", "patch", "apply", "delete"}
	var all []any
	for range 4 { // pods and Workloads, one at a time and several
		all = append(all, requests...)
	}
	assert.Equal(t, all, tables["Requests"].column("request"))
	assert.Equal(t, []any{6.0}, tables["Watches"].column("count"), "an event for each watcher and object")
}

func TestMemoryIsMeasured(t *testing.T) {
	memory := bench(t, "memory", "--objects", "300,200")["Memory of a server, in use after a collection of garbage"]
	assert.Equal(t, []any{200.0, 300.0, 200.0, 300.0}, memory.column("objects"))
	for _, row := range memory {
		// An object takes up at least its name, twice: as a key and in its content.
		assert.Greater(t, row["bytes an object"], 2.0*float64(len(objectName(0))))
		assert.Greater(t, row["MiB after a patch of each"], row["MiB"])
	}
}

func TestTablesArePrintedForPeople(t *testing.T) {
	folder := t.TempDir()
	cpu, allocations := filepath.Join(folder, "cpu"), filepath.Join(folder, "allocations")
	var out, complaints bytes.Buffer
	code := run(t.Context(), []string{"gc", "--dependents", "1", "--objects", "1", "--cpu-profile", cpu, "--alloc-profile", allocations}, &out, &complaints)
	require.Equal(t, exitDone, code, complaints.String())
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	require.Len(t, lines, 5)
	assert.Equal(t, "Deletion until all is gone", lines[0])
	assert.Equal(t, []string{"what", "objects", "seconds"}, strings.Fields(lines[1])[:3])
	assert.Regexp(t, `^  owner, background +1 +\d+\.\d{3} +\d+\.\d{3} +\d+ +\d+$`, lines[2])
	for _, profile := range []string{cpu, allocations} {
		info, err := os.Stat(profile)
		require.NoError(t, err)
		assert.Positive(t, info.Size())
	}
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no benchmark":          {nil, `there is no benchmark ""`},
		"one that there is not": {[]string{"disks"}, `there is no benchmark "disks"`},
		"an unknown flag":       {[]string{"gc", "--pods", "1"}, "unknown flag: --pods"},
		"too many arguments":    {[]string{"gc", "api"}, `unexpected argument "api"`},
		"an unknown output":     {[]string{"api", "--output", "xml"}, "--output xml: want table or json"},
		"an unknown mode":       {[]string{"jobs", "--modes", "plain,ring"}, `--modes: there is no "ring", only plain, gang, indexed`},
		"no Jobs":               {[]string{"jobs", "--jobs", "0"}, "sizes must be positive"},
		"no objects":            {[]string{"gc", "--objects", "0"}, "sizes must be at least 1"},
		"no folder for CPU":     {[]string{"gc", "--cpu-profile", "/none/cpu"}, `--cpu-profile "/none/cpu": no such file or directory: want a file that can be written`},
		"no folder for memory":  {[]string{"gc", "--alloc-profile", "/none/mem"}, `--alloc-profile "/none/mem": no such file or directory: want a file that can be written`},
		"a number too small":    {[]string{"memory", "--objects", "9,0"}, "sizes must be at least 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, complaints bytes.Buffer
			assert.Equal(t, exitUsage, run(t.Context(), tc.args, &out, &complaints))
			assert.Contains(t, complaints.String(), tc.want)
			assert.Contains(t, complaints.String(), "See bench --help.")
		})
	}
	var out, complaints bytes.Buffer
	assert.Equal(t, exitDone, run(t.Context(), []string{"jobs", "--help"}, &out, &complaints))
	assert.Contains(t, out.String(), "--parallelism int")
}
