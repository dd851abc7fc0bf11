package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writerFunc is a function as an io.Writer.
type writerFunc func(text []byte) (int, error)

func (w writerFunc) Write(text []byte) (int, error) { return w(text) }

func TestInterruptWhileStandardInputHasNothing(t *testing.T) {
	t.Parallel()
	stdin, typist := io.Pipe()
	defer func() { _ = typist.Close() }()
	ctx, interrupt := context.WithCancel(t.Context())
	reading := readerFunc(func(text []byte) (int, error) {
		interrupt()
		return stdin.Read(text)
	})
	var stderr bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, []string{"-f", "-"}, reading, io.Discard, &stderr))
	assert.Equal(t, "run-job: interrupted\n", stderr.String())
}

type readerFunc func(text []byte) (int, error)

func (r readerFunc) Read(text []byte) (int, error) { return r(text) }

func TestInterruptWhileObjectsAreCreated(t *testing.T) {
	t.Parallel()
	opts, err := parseFlags([]string{"--nodes", "1"}, io.Discard)
	require.NoError(t, err)
	c, err := startCluster(t.Context(), opts, opts.rehearse())
	require.NoError(t, err)
	defer c.Stop()
	docs, err := parseManifest("test", []byte(indexedJob("1", "1", "0")))
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stderr bytes.Buffer
	assert.Equal(t, exitInterrupted, play(ctx, c, docs, opts, opts.rehearse(), io.Discard, &stderr))
	assert.Equal(t, "run-job: interrupted\n", stderr.String())
}

func TestInterruptWhileAJobRuns(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	watching := writerFunc(func(text []byte) (int, error) {
		if bytes.Contains(text, []byte(": Running")) {
			interrupt()
		}
		return stdout.Write(text)
	})
	code := run(ctx, []string{"-f", "-", "--pod-duration", "1h"}, strings.NewReader(indexedJob("1", "1", "0")), watching, &stderr)
	assert.Equal(t, exitInterrupted, code)
	assert.Equal(t, "run-job: interrupted: Job default/indexed (0/1 succeeded) 1 pod is running\n", stderr.String())
	assert.Regexp(t, `(?m)^default/indexed-0-\w+ +Running `, stdout.String(), "the report is printed all the same")
}

// The other tests end a context; this one makes sure of the signal, with a FIFO that nobody writes to.
func TestProgramEndsOnASignalWhileItReadsAFIFO(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs")
	}
	t.Parallel()
	folder := t.TempDir()
	program, fifo := filepath.Join(folder, "run-job"), filepath.Join(folder, "fifo")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("no FIFO can be made here: %v: %s", err, out)
	}
	cmd := exec.Command(program, "-f", fifo)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns once the program reads
	require.NoError(t, err)
	defer func() { _ = writer.Close() }()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, exitInterrupted, exit.ExitCode(), stderr.String())
	assert.Equal(t, "run-job: interrupted\n", stderr.String())
}

func TestWhoseFaultAnErrorIs(t *testing.T) {
	t.Parallel()
	status := func(code int32) error {
		return fmt.Errorf("creating: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Code: code}})
	}
	cases := map[string]struct {
		err  error
		want bool // the manifest's
	}{
		"an object that is not valid":   {status(http.StatusUnprocessableEntity), true},
		"one that cannot be decoded":    {status(http.StatusBadRequest), true},
		"one that is there":             {status(http.StatusConflict), true},
		"one that is not allowed":       {status(http.StatusForbidden), true},
		"a kind that is not served":     {&unknownKindError{schema.GroupVersionKind{Kind: "Dog"}}, true},
		"a server that fails":           {status(http.StatusInternalServerError), false},
		"a server that is busy":         {status(http.StatusTooManyRequests), false},
		"a server that is not there":    {errors.New("connection refused"), false},
		"a namespace that is not valid": {&namespaceError{"A", status(http.StatusUnprocessableEntity)}, true},
		"a namespace that is not made":  {&namespaceError{"a", status(http.StatusInternalServerError)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, wrongInput(tc.err))
			var out creation
			out.fault(document{file: "f.yaml", number: 2, object: &unstructured.Unstructured{Object: map[string]any{"kind": "Job"}}}, tc.err)
			errs := append(out.wrong, out.failed...)
			require.Len(t, errs, 1)
			assert.Equal(t, tc.want, len(out.wrong) == 1)
			assert.Contains(t, errs[0].Error(), "f.yaml: document 2: ")
		})
	}
}
