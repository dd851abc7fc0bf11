package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBesideControllerRuntime builds and runs a module outside the tree that has Muster's types and controller-runtime
// side by side, as the author of an operator does: the client of the one reads and writes the other's objects.
func TestBesideControllerRuntime(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	gomod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	text := strings.Replace(string(gomod), "module github.com/musterkube/muster/examples/crd-controller", "module example.com/operator", 1)
	text = strings.Replace(text, "=> ../..", "=> "+filepath.Dir(filepath.Dir(here)), 1)
	require.Contains(t, text, "sigs.k8s.io/controller-runtime v0.25.")
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	folder := t.TempDir()
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sums), "main.go": operator} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	command := exec.CommandContext(t.Context(), "go", "run", ".")
	command.Dir = folder
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, "training 4\n", string(output))
}

// operator is a program of an operator's author.
const operator = `package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/builder"
)

var _ versioned.Interface // the typed client, for who wants it

func main() {
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha2.AddToScheme(scheme); err != nil {
		panic(err)
	}
	client := fake.NewClientBuilder().WithScheme(scheme).Build()
	workload := &schedulingv1alpha2.Workload{}
	workload.Namespace, workload.Name = "default", "training"
	workload.Spec.PodGroupTemplates = []schedulingv1alpha2.PodGroupTemplate{builder.Gang("workers", 4)}
	if err := client.Create(context.Background(), workload); err != nil {
		panic(err)
	}
	found := &schedulingv1alpha2.Workload{}
	if err := client.Get(context.Background(), ctrl.ObjectKeyFromObject(workload), found); err != nil {
		panic(err)
	}
	fmt.Println(found.Name, found.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount)
}
`
