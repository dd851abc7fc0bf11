package muster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/musterkube/muster"

// outside makes a module outside the tree that uses this one, as a user has it, and returns its folder. It takes the same
// versions of everything, so nothing has to be downloaded that this module's own build has not brought.
func outside(t *testing.T, files map[string]string) string {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	folder := t.TempDir()
	gomod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	text := strings.Replace(string(gomod), "module "+module, "module example.com/outside", 1)
	text += "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + here + "\n"
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	files["go.mod"], files["go.sum"] = text, string(sums)
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	return folder
}

// goTool runs the go command in a folder, without the network.
func goTool(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// Who takes the types and the clients alone gets nothing of the API server, and no more than clients of Kubernetes have.
func TestTheClientsBringNoServer(t *testing.T) {
	t.Parallel()
	folder := outside(t, map[string]string{"main.go": `package main

import (
	"fmt"

	"k8s.io/client-go/rest"

	schedulingv1alpha2 "` + module + `/apis/scheduling/v1alpha2"
	"` + module + `/generated/clientset/versioned"
)

func main() {
	client, err := versioned.NewForConfig(&rest.Config{})
	fmt.Println(client != nil, err, schedulingv1alpha2.SchemeGroupVersion)
}
`})
	assert.Equal(t, "true <nil> scheduling.k8s.io/v1alpha2\n", goTool(t, folder, "run", "."))
	packages := strings.Fields(goTool(t, folder, "list", "-deps", "."))
	assert.Contains(t, packages, module+"/apis/scheduling/v1alpha2")
	for _, imported := range packages {
		for _, heavy := range []string{"k8s.io/apiserver", "k8s.io/apiextensions-apiserver", "go.etcd.io", "google.golang.org/grpc", module + "/pkg/emulator"} {
			assert.False(t, imported == heavy || strings.HasPrefix(imported, heavy+"/"), "the clients bring %s", imported)
		}
	}
}
