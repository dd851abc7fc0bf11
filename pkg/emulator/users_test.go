package emulator_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/pkg/emulator"
)

func TestTokensAreChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		tokens map[string]emulator.User
		want   string
	}{
		"no name":                {map[string]emulator.User{"t": {}}, `Options.Tokens: Invalid value: "": a user has no name`},
		"a name of white space":  {map[string]emulator.User{"t": {Name: " \t"}}, `Options.Tokens: Invalid value: " \t": a user has no name`},
		"white space in a name":  {map[string]emulator.User{"t": {Name: "a b"}}, `Options.Tokens: Invalid value: "a b": the name of a user must not contain white space`},
		"no token":               {map[string]emulator.User{"": {Name: "a"}}, `Options.Tokens: Invalid value: "a": the token is empty`},
		"white space in a token": {map[string]emulator.User{"t\n": {Name: "a"}}, `Options.Tokens: Invalid value: "a": the token must not contain white space`},
		"the administrator's token": {
			map[string]emulator.User{"root": {Name: "a"}}, `Options.Tokens: Invalid value: "a": the token is that of Options.Token, the administrator's`,
		},
		"the administrator's name": {
			map[string]emulator.User{"t": {Name: "kubernetes-admin"}}, `Options.Tokens: Invalid value: "kubernetes-admin": this is the administrator, whose token Options.Token is`,
		},
		"two of a name":          {map[string]emulator.User{"t": {Name: "a"}, "u": {Name: "a"}}, `Options.Tokens: Invalid value: "a": there are two tokens for that name`},
		"nobody":                 {map[string]emulator.User{"t": {Name: "system:anonymous"}}, `Options.Tokens: Invalid value: "system:anonymous": this is the name of those who have no token`},
		"a group without a name": {map[string]emulator.User{"t": {Name: "a", Groups: []string{""}}}, `Options.Tokens: Invalid value: "a": a group has no name`},
		"the group of nobody": {
			map[string]emulator.User{"t": {Name: "a", Groups: []string{"system:unauthenticated"}}},
			`Options.Tokens: Invalid value: "a": the group system:unauthenticated is of those who have no token`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := emulator.Start(t.Context(), emulator.Options{Token: "root", Tokens: tc.tokens})
			assert.EqualError(t, err, "starting the API server emulator: "+tc.want)
		})
	}
}

func TestKubeconfigForAUser(t *testing.T) {
	server := start(t, emulator.Options{Tokens: people()})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.ErrorContains(t, server.WriteKubeconfigFor(path, "bob"), "the server does not listen yet")
	_, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	require.EqualError(t, server.WriteKubeconfigFor(path, "carol"), "writing kubeconfig "+path+`: no token of Options.Tokens is for the user "carol"`)
	require.NoError(t, server.WriteKubeconfigFor(path, "bob"))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	assert.Equal(t, "bob", whoami(t, config).Username)
}

// outside returns an address of this machine that is not a loopback one.
func outside(t *testing.T) net.IP {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, address := range addresses {
		if of, ok := address.(*net.IPNet); ok && of.IP.IsGlobalUnicast() {
			return of.IP
		}
	}
	t.Skip("this machine has loopback addresses only")
	return nil
}

func TestDoorsBeyondLoopback(t *testing.T) {
	ip := outside(t)
	closed := start(t, emulator.Options{})
	for _, address := range []string{ip.String() + ":0", ":0", "0.0.0.0:0", "[::]:0", "example.com:0"} {
		_, err := closed.Listen(t.Context(), address)
		require.ErrorContains(t, err, "unless Options.ListenBeyondLoopback says so", address)
	}

	server := start(t, emulator.Options{ListenBeyondLoopback: true})
	config := throughKubeconfig(t, server, net.JoinHostPort(ip.String(), "0"))
	assert.Contains(t, config.Host, ip.String())
	assert.Equal(t, "kubernetes-admin", whoami(t, config).Username)

	host, err := os.Hostname()
	require.NoError(t, err)
	for _, address := range []string{":0", "0.0.0.0:0"} {
		config = throughKubeconfig(t, server, address)
		at, err := url.Parse(config.Host)
		require.NoError(t, err)
		assert.True(t, net.ParseIP(at.Hostname()).IsLoopback(), "the file is for clients on this machine: %s", config.Host)
		assert.Equal(t, "kubernetes-admin", whoami(t, config).Username)
		assert.NoError(t, certificateOf(t, net.JoinHostPort(ip.String(), at.Port()), ip.String()))
		assert.NoError(t, certificateOf(t, at.Host, host))
		assert.Error(t, certificateOf(t, at.Host, "elsewhere.example"))
		config.Host = "https://" + net.JoinHostPort(ip.String(), at.Port())
		assert.Equal(t, "kubernetes-admin", whoami(t, config).Username, "those on other machines come to this address")
	}
	_, err = server.Listen(t.Context(), "no-port")
	assert.ErrorContains(t, err, "want HOST:PORT")
}

// certificateOf returns whether the certificate at an address is for a name.
func certificateOf(t *testing.T, address, name string) error {
	t.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the name is checked below
	connection, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].VerifyHostname(name)
}
