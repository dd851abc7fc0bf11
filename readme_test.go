package muster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocks returns the code blocks of the README in a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var found []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		found = append(found, match[1])
	}
	require.NotEmpty(t, found)
	return found
}

// goBlocks has for each Go block of the README, by how it begins, a function that it is the body of.
var goBlocks = map[string]string{
	"workload, err := builder.FromJob": `
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
	BLOCK
	require.NoError(t, err)
	assert.Nil(t, workload)`,
	"controller, err := job.New": `
	server, err := emulator.Start(t.Context(), emulator.Options{})
	require.NoError(t, err)
	defer server.Stop()
	config := server.Config()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	func() {
		BLOCK
		require.NoError(t, err)
	}()`,
	"c, err := cluster.Start": `
	ctx := t.Context()
	BLOCK
	require.NoError(t, err)
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, nodes.Items, 3)`,
	"clustertest.Run": `
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "training"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}}}
	BLOCK`,
}

const goPreamble = `package outside

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
)

// mycontroller stands for a package of the reader's.
var mycontroller idle

type idle struct{}

func (idle) New(*rest.Config) idle { return idle{} }

func (idle) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func createJob(t *testing.T, client kubernetes.Interface, job *batchv1.Job) {
	_, err := client.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}
`

func TestTheGoOfTheREADMERuns(t *testing.T) {
	t.Parallel()
	var program strings.Builder
	program.WriteString(goPreamble)
	for i, block := range blocks(t, "go") {
		frame := ""
		for beginning, candidate := range goBlocks {
			if strings.HasPrefix(block, beginning) {
				frame = candidate
			}
		}
		require.NotEmpty(t, frame, "no test knows this block:\n%s", block)
		program.WriteString("\nfunc Test" + string(rune('A'+i)) + "(t *testing.T) {" + strings.Replace(frame, "BLOCK", block, 1) + "\n}\n")
	}
	folder := outside(t, map[string]string{"readme_test.go": program.String()})
	goTool(t, folder, "test", "-timeout", "5m", ".")
}

// commandsElsewhere are the commands of the README that other tests run: the tests beside the programs that they start, or
// whoever runs this one.
var commandsElsewhere = map[string]string{
	"go test ./...": ".ci/run",
	"go run ./examples/serve --kubeconfig FILE":                         "examples/serve",
	"go run ./examples/external-controller":                             "examples/external-controller",
	"go run ./examples/typed-client --kubeconfig FILE":                  "examples/typed-client",
	"go mod edit -replace github.com/musterkube/muster=../muster":       "readme_test.go",
	"go get github.com/musterkube/muster/pkg/...":                       "readme_test.go",
	"go test -v ./examples/test-your-controller":                        "examples/test-your-controller",
	"cd examples/crd-controller && go run .":                            "examples/crd-controller",
	"cd examples/crd-controller && go test -v ./virtual":                "examples/crd-controller/virtual",
	"go run ./examples/run-job --pod-duration 20s --lose node-1=3s+15s": "examples/run-job",
	"go run ./examples/run-job -f examples/run-job/gangs.yaml --nodes 2 --pod-duration 8s --fail 2=1 --backoff 2s --timeline gangs.svg": "examples/run-job",
	"go test -bench .": "hack/fakes",
}

// With the commands of the README, a module that has nothing yet builds a program that uses the library.
func TestAModuleTakesTheLibraryFromAClone(t *testing.T) {
	t.Parallel()
	folder := outside(t, map[string]string{"main.go": `package main

import (
	"fmt"

	"` + module + `/pkg/builder"
)

func main() { fmt.Println(builder.Basic("driver").Name) }
`})
	// A go.sum with what is needed keeps the network out.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module example.com/outside\n\ngo 1.26.0\n"), 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	ran := 0
	for _, block := range blocks(t, "sh") {
		for command := range strings.Lines(block) {
			if strings.Contains(command, module) {
				goTool(t, folder, strings.Fields(strings.Replace(command, "../muster", here, 1))[1:]...)
				ran++
			}
		}
	}
	require.Equal(t, 2, ran)
	assert.Equal(t, "driver\n", goTool(t, folder, "run", "."))
}

// Links of the README to what is in the tree lead there.
func TestTheLinksOfTheREADMELeadSomewhere(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		_, err := os.Stat(link[1])
		assert.NoError(t, err)
	}
}

// commandsHere are those that this test runs, with the argument that stands for a file.
var commandsHere = map[string]string{
	"go run ./examples/run-job":                 "Complete",
	"go run ./examples/run-job -f FILE":         "Complete",
	"go run ./examples/run-job -f FILE -o json": `"Complete"`,
}

func TestTheCommandsOfTheREADMERun(t *testing.T) {
	t.Parallel()
	var commands []string
	for _, block := range blocks(t, "sh") {
		for line := range strings.Lines(block) {
			command, _, _ := strings.Cut(line, "#")
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, match := range regexp.MustCompile("`((?:cd [^`]*&& )?go [^`]*)`").FindAllStringSubmatch(string(readme), -1) {
		commands = append(commands, match[1])
	}
	ran := map[string]bool{}
	for _, command := range commands {
		if place := commandsElsewhere[command]; place != "" {
			_, err := os.Stat(place)
			assert.NoError(t, err, "what runs %q is gone", command)
			continue
		}
		want, known := commandsHere[command]
		if !assert.True(t, known, "no test runs %q", command) || ran[command] {
			continue
		}
		ran[command] = true
		args := strings.Fields(strings.Replace(command, "FILE", "examples/run-job/job.yaml", 1))
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		require.NoError(t, err, "%s: %s", command, out)
		assert.Contains(t, string(out), want, command)
	}
	assert.Len(t, ran, len(commandsHere), "a command that is tested is no longer there")
}
