package emulator_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/pkg/emulator"
)

// throughKubeconfig opens a door and returns the configuration of a client that read about it in a file.
func throughKubeconfig(t *testing.T, server *emulator.Server, address string) *rest.Config {
	t.Helper()
	_, err := server.Listen(t.Context(), address)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(path))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	return config
}

func TestKubeconfigLeadsToTheServer(t *testing.T) {
	server := start(t, emulator.Options{})
	created, err := kube(t, server.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.0.0.2:0"} {
		t.Run(address, func(t *testing.T) {
			config := throughKubeconfig(t, server, address)
			assert.NotEmpty(t, config.CAData)
			assert.False(t, config.Insecure)
			for encoding, config := range map[string]*rest.Config{"JSON": config, "protobuf": protobuf(config)} {
				read, err := kube(t, config).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
				require.NoError(t, err, encoding)
				assert.Equal(t, created.UID, read.UID, encoding)
			}
			watching, err := kube(t, config).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer watching.Stop()
			assert.Equal(t, "ADDED a ", describe(receive(t, watching.ResultChan())))
		})
	}
}

func TestKubeconfigFile(t *testing.T) {
	server := start(t, emulator.Options{Token: "open-sesame"})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.ErrorContains(t, server.WriteKubeconfig(path), "the server does not listen yet")
	require.NoFileExists(t, path)

	_, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, server.WriteKubeconfig(path))
	require.NoError(t, os.Chmod(path, 0o644)) // that of an earlier server, as somebody left it
	second, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, server.WriteKubeconfig(path))

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds a secret")
	loaded, err := clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	context := loaded.Contexts[loaded.CurrentContext]
	require.NotNil(t, context)
	assert.Equal(t, second, loaded.Clusters[context.Cluster].Server, "the door opened last")
	assert.Equal(t, "open-sesame", loaded.AuthInfos[context.AuthInfo].Token)
	others, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	assert.Empty(t, others, "no temporary file is left")

	require.Error(t, server.WriteKubeconfig(filepath.Join(path, "no", "such", "folder")))
}

func TestDoorAsksForTheToken(t *testing.T) {
	server := start(t, emulator.Options{Token: "open-sesame"})
	config := throughKubeconfig(t, server, "127.0.0.1:0")
	config.BearerToken = ""
	cases := map[string]struct {
		authorization string
		path          string
		wantCode      int
	}{
		"the right token":                         {authorization: "Bearer open-sesame", path: "/api/v1/pods", wantCode: http.StatusOK},
		"the right token, the scheme in capitals": {authorization: "BEARER open-sesame", path: "/api/v1/pods", wantCode: http.StatusOK},
		"a wrong token":                           {authorization: "Bearer open", path: "/api/v1/pods", wantCode: http.StatusUnauthorized},
		"an empty token":                          {authorization: "Bearer ", path: "/api/v1/pods", wantCode: http.StatusForbidden},
		"a password":                              {authorization: "Basic open-sesame", path: "/api/v1/pods", wantCode: http.StatusForbidden},
		"nothing":                                 {path: "/api/v1/pods", wantCode: http.StatusForbidden},
		"nothing, for the version":                {path: "/version", wantCode: http.StatusOK},
		"nothing, for what is not there":          {path: "/nowhere", wantCode: http.StatusForbidden},
		"nothing, for readiness":                  {path: "/readyz", wantCode: http.StatusOK},
		"a wrong token, for readiness":            {authorization: "Bearer open", path: "/readyz", wantCode: http.StatusUnauthorized},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if tc.authorization != "" {
				header.Set("Authorization", tc.authorization)
			}
			code, _, body := raw(t, config, http.MethodGet, tc.path, "", header)
			require.Equal(t, tc.wantCode, code, body)
			if code == http.StatusOK {
				return
			}
			var status metav1.Status
			require.NoError(t, json.Unmarshal([]byte(body), &status))
			if code == http.StatusUnauthorized {
				assert.Equal(t, "Unauthorized", status.Message)
				assert.Equal(t, metav1.StatusReasonUnauthorized, status.Reason)
				return
			}
			assert.Contains(t, status.Message, `User "system:anonymous" cannot`)
			assert.Equal(t, metav1.StatusReasonForbidden, status.Reason)
		})
	}
}

func TestTokenBehindTwoSpacesIsNone(t *testing.T) {
	server := start(t, emulator.Options{Token: "open-sesame"})
	config := throughKubeconfig(t, server, "127.0.0.1:0")
	config.BearerToken = ""
	code, header, body := raw(t, config, http.MethodGet, "/api/v1/pods", "", http.Header{"Authorization": {"Bearer  open-sesame"}})
	assert.Equal(t, http.StatusForbidden, code, body)
	assert.Equal(t, []string{`299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"`}, header.Values("Warning"))
}

func TestDoorSpeaksHTTP2AndHTTP1(t *testing.T) {
	server := start(t, emulator.Options{})
	config := throughKubeconfig(t, server, "127.0.0.1:0")
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(config.CAData))
	for protocol, http2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		t.Run(protocol, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}}
			defer client.CloseIdleConnections()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/version", nil)
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+config.BearerToken)
			response, err := client.Do(request)
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, protocol, response.Proto)
			assert.Contains(t, string(body), `"gitVersion": "v1.36.3"`)
		})
	}
}

func TestEachServerHasACertificateOfItsOwn(t *testing.T) {
	one, other := start(t, emulator.Options{}), start(t, emulator.Options{})
	config := throughKubeconfig(t, one, "127.0.0.1:0")
	config.CAData = throughKubeconfig(t, other, "127.0.0.1:0").CAData
	_, err := kube(t, config).Discovery().ServerVersion()
	assert.ErrorContains(t, err, "certificate")
}

func TestListenRefusesAddressesThatOthersReach(t *testing.T) {
	server := start(t, emulator.Options{})
	taken, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	parsed, err := url.Parse(taken)
	require.NoError(t, err)
	cases := map[string]struct{ address, wantErr string }{
		"every address":         {address: "0.0.0.0:0", wantErr: "want a loopback address"},
		"no host":               {address: ":0", wantErr: "want a loopback address"},
		"every IPv6 address":    {address: "[::]:0", wantErr: "want a loopback address"},
		"another host":          {address: "example.com:0", wantErr: "want a loopback address"},
		"no port":               {address: "127.0.0.1", wantErr: "want HOST:PORT"},
		"a port that is in use": {address: parsed.Host, wantErr: "address already in use"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := server.Listen(t.Context(), tc.address)
			require.ErrorContains(t, err, tc.wantErr)
			assert.ErrorContains(t, err, `listening at "`+tc.address+`"`)
		})
	}
}

func TestStopClosesTheDoor(t *testing.T) {
	server := start(t, emulator.Options{})
	config := throughKubeconfig(t, server, "127.0.0.1:0")
	client := kube(t, config)
	watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)

	server.Stop()

	_, open := <-watching.ResultChan()
	assert.False(t, open)
	_, err = client.Discovery().ServerVersion()
	require.ErrorContains(t, err, "connection refused")
}

func TestKubeconfigOfOthersIsLeftAlone(t *testing.T) {
	server := start(t, emulator.Options{})
	_, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	folder := t.TempDir()
	const others = "apiVersion: v1\nkind: Config\nclusters: [{name: prod, cluster: {server: 'https://prod.invalid'}}]\n"
	foreign := filepath.Join(folder, "foreign")
	require.NoError(t, os.WriteFile(foreign, []byte(others), 0o600))
	require.ErrorContains(t, server.WriteKubeconfig(foreign), `has the cluster "prod"`)
	content, err := os.ReadFile(foreign)
	require.NoError(t, err)
	assert.Equal(t, others, string(content))
	require.ErrorContains(t, server.WriteKubeconfig(folder), "no regular file")
	require.NoError(t, os.WriteFile(foreign, []byte("a diary"), 0o600))
	require.ErrorContains(t, server.WriteKubeconfig(foreign), "no kubeconfig")

	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, server.WriteKubeconfig(link))
	require.NoError(t, server.WriteKubeconfig(link), "our own file may be replaced")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
}
