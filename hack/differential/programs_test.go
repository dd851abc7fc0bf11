package differential_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/hack/differential/wire"
)

// program is one of the programs that judge objects, running.
type program struct {
	in      io.WriteCloser
	answers *json.Decoder
}

// build builds a program of the module in a folder, unless there is one at path already.
func build(t *testing.T, path, folder, program string) string {
	t.Helper()
	if path != "" {
		return path
	}
	path = filepath.Join(t.TempDir(), filepath.Base(program))
	command := exec.CommandContext(t.Context(), "go", "build", "-o", path, program)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return path
}

// run starts a program that ends with the test.
func run(t *testing.T, path string) *program {
	t.Helper()
	// The test's own context ends before what is to be cleaned up.
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, command.Wait())
	})
	return &program{in: in, answers: json.NewDecoder(out)}
}

// ask sends a question, a line of JSON.
func (p *program) ask(t *testing.T, line []byte) {
	t.Helper()
	_, err := p.in.Write(line)
	require.NoError(t, err)
}

// answer waits for the answer to the earliest question that has none.
func (p *program) answer(t *testing.T) *wire.Answer {
	t.Helper()
	answer := &wire.Answer{}
	require.NoError(t, p.answers.Decode(answer))
	return answer
}
