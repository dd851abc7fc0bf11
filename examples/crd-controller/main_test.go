package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
)

func TestShow(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(t.Context(), nil, &stdout, &stderr), stderr.String())
	assert.Contains(t, stdout.String(), "bert: Scheduled: The driver and the workers have been placed\n")
	assert.Contains(t, stdout.String(), "{Name:worker-1 Failures:1 Succeeded:true}")
	assert.Contains(t, stdout.String(), "bert: Complete: The driver and every worker have succeeded\n")
	assert.Empty(t, stderr.String())
}

func TestFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":                          {[]string{"--help"}, 0, "--lease-namespace"},
		"help tells the codes":          {[]string{"--help"}, 0, "2 for wrong flags"},
		"an unknown flag":               {[]string{"--what"}, 2, "unknown flag: --what"},
		"an argument":                   {[]string{"show"}, 2, `unexpected argument "show"`},
		"a Lease in the show":           {[]string{"--lease-namespace", "x"}, 2, "the show takes no flags: --kubeconfig FILE says where to run the controller"},
		"metrics of the show":           {[]string{"--metrics", "127.0.0.1:0"}, 2, "the show takes no flags"},
		"a namespace that can be none":  {[]string{"--kubeconfig", "f", "--lease-namespace", "A b"}, 2, `--lease-namespace "A b": want the name of a namespace`},
		"an address without a port":     {[]string{"--kubeconfig", "f", "--metrics", "localhost"}, 2, `--metrics "localhost": want HOST:PORT`},
		"a kubeconfig that there isn't": {[]string{"--kubeconfig", "/none"}, 2, "crd-controller: --kubeconfig \"/none\": no such file or directory: want the kubeconfig of a cluster\nSee crd-controller --help.\n"},
		"a kubeconfig of nothing":       {[]string{"--kubeconfig", os.DevNull}, 2, "there is no cluster in it"},
		"a file that is no kubeconfig":  {[]string{"--kubeconfig", "main.go"}, 2, `--kubeconfig "main.go": error loading config file`},
	} {
		t.Run(name, func(t *testing.T) {
			var output bytes.Buffer
			assert.Equal(t, tc.code, run(t.Context(), tc.args, &output, &output))
			assert.Contains(t, output.String(), tc.want)
		})
	}
}

func TestOnAClusterThatIsThere(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Controllers: []string{}})
	kubeconfig := c.Kubeconfig()
	var stderr bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"--kubeconfig", kubeconfig, "--lease-namespace", "nowhere"}, io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "the namespace nowhere of the Lease does not exist: make it with kubectl create namespace nowhere")

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	taken := listener.Addr().String()
	stderr.Reset()
	assert.Equal(t, 2, run(t.Context(), []string{"--kubeconfig", kubeconfig, "--metrics", taken}, io.Discard, &stderr))
	assert.Contains(t, stderr.String(), `crd-controller: --metrics "`+taken+`": bind: address already in use: name another address, such as 127.0.0.1:0`)
}
