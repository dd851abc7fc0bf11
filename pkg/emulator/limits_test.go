package emulator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// maxBody is how large the body of a request may be.
const maxBody = 3 << 20

const configMapsPath = "/api/v1/namespaces/default/configmaps"

// entrances returns the ways into a server.
func entrances(t *testing.T, server *emulator.Server) map[string]*rest.Config {
	t.Helper()
	return map[string]*rest.Config{"in memory": server.Config(), "by socket": throughKubeconfig(t, server, "127.0.0.1:0")}
}

// request is one that is too much of something.
type request struct {
	method, path, contentType, body string
	code                            int
	message                         string
}

func excesses(t *testing.T) map[string]request {
	t.Helper()
	const one = configMapsPath + "/x"
	big := `{"metadata":{"name":"big"},"data":{"a":"` + strings.Repeat("x", maxBody) + `"}}`
	deep := `{"metadata":{"name":"deep"},"data":` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000) + "}"
	tooLarge := fmt.Sprintf("Request entity too large: limit is %d", maxBody)
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := byte('b'); c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Join([]string{
			"*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1), "*" + string(c-1),
		}, ","))
	}
	protobuf, err := (&corev1.ConfigMap{ObjectMeta: objectMeta("p"), Data: map[string]string{"a": strings.Repeat("x", maxBody)}}).Marshal()
	require.NoError(t, err)
	cases := map[string]request{
		"a large POST":     {http.MethodPost, configMapsPath, "application/json", big, 413, tooLarge},
		"a large PUT":      {http.MethodPut, one, "application/json", big, 413, tooLarge},
		"a large DELETE":   {http.MethodDelete, one, "application/json", big, 413, tooLarge},
		"large protobuf":   {http.MethodPost, configMapsPath, "application/vnd.kubernetes.protobuf", "k8s\x00" + string(protobuf), 413, tooLarge},
		"deep JSON":        {http.MethodPost, configMapsPath, "application/json", deep, 400, "invalid character '{' exceeded max depth"},
		"deep YAML":        {http.MethodPost, configMapsPath, "application/yaml", "a: " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000), 400, "exceeded max depth of 10000"},
		"YAML with echoes": {http.MethodPost, configMapsPath, "application/yaml", bomb, 400, "yaml: document contains excessive aliasing"},
		"an apply with echoes": {http.MethodPatch, one + "?fieldManager=m", "application/apply-patch+yaml", bomb, 400,
			"error decoding YAML: error converting YAML to JSON: yaml: document contains excessive aliasing"},
		"a deep apply": {http.MethodPatch, one + "?fieldManager=m", "application/apply-patch+yaml", deep, 400,
			"error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 10000"},
		"many operations": {http.MethodPatch, one, "application/json-patch+json",
			"[" + strings.Repeat(`{"op":"add","path":"/data/a","value":"b"},`, 10000) + `{"op":"add","path":"/data/a","value":"b"}]`, 413,
			"Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"},
	}
	for _, kind := range []string{"json-patch+json", "merge-patch+json", "strategic-merge-patch+json"} {
		cases["a large "+kind] = request{http.MethodPatch, one, "application/" + kind, big, 413, tooLarge}
		cases["a deep "+kind] = request{http.MethodPatch, one, "application/" + kind, deep, 400, "invalid character '{' exceeded max depth"}
	}
	cases["a large apply"] = request{http.MethodPatch, one + "?fieldManager=m", "application/apply-patch+yaml", big, 413, tooLarge}
	return cases
}

func TestRequestsAreBounded(t *testing.T) {
	server := start(t, emulator.Options{})
	_, err := kube(t, server.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap("x"), metav1.CreateOptions{})
	require.NoError(t, err)
	for entrance, config := range entrances(t, server) {
		for name, tc := range excesses(t) {
			t.Run(entrance+"/"+name, func(t *testing.T) {
				code, _, answer := raw(t, config, tc.method, tc.path, tc.body, http.Header{"Content-Type": {tc.contentType}})
				assert.Equal(t, tc.code, code)
				var status metav1.Status
				require.NoError(t, json.Unmarshal([]byte(answer), &status), answer)
				assert.Contains(t, status.Message, tc.message)
			})
		}
	}
}

// What is compressed is not unpacked: there is no small request that becomes a large one.
func TestCompressedBodiesAreNotUnpacked(t *testing.T) {
	server := start(t, emulator.Options{})
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := io.WriteString(writer, `{"metadata":{"name":"z"}}`)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	for entrance, config := range entrances(t, server) {
		code, _, answer := raw(t, config, http.MethodPost, configMapsPath, packed.String(), http.Header{
			"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"},
		})
		assert.Equal(t, http.StatusBadRequest, code, entrance)
		assert.Contains(t, answer, "the object provided is unrecognized (must be of type ConfigMap)", entrance)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	server := start(t, emulator.Options{})
	for entrance, config := range entrances(t, server) {
		for size, want := range map[int]int{900_000: http.StatusOK, 1_200_000: http.StatusRequestHeaderFieldsTooLarge} {
			header := http.Header{}
			for i := range size / 10_000 {
				header.Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 10_000))
			}
			if config.CAData != nil {
				config.NextProtos = []string{"http/1.1"} // a client of HTTP/2 knows the limit and does not even ask
			}
			code, _, _ := raw(t, config, http.MethodGet, configMapsPath, "", header)
			assert.Equal(t, want, code, "%s, %d bytes", entrance, size)
		}
	}
}

// endlessBody is one that begins and never goes on. It tells when it has been read from.
type endlessBody struct {
	begun  chan struct{}
	closed chan struct{}
	start  io.Reader
}

func newEndlessBody() *endlessBody {
	return &endlessBody{make(chan struct{}), make(chan struct{}), strings.NewReader(`{"metadata":`)}
}

func (b *endlessBody) Read(p []byte) (int, error) {
	if n, err := b.start.Read(p); err == nil {
		close(b.begun)
		return n, nil
	}
	<-b.closed
	return 0, io.ErrUnexpectedEOF
}

func (b *endlessBody) Close() error {
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	return nil
}

func TestClientsThatGoAwayLeaveNothing(t *testing.T) {
	server := start(t, emulator.Options{DisabledControllers: emulator.Controllers()})
	for entrance, config := range entrances(t, server) {
		t.Run(entrance, func(t *testing.T) {
			client, err := rest.HTTPClientFor(config)
			require.NoError(t, err)
			settled := func() int { return len(stacks()) }
			closeIdle := func() { utilnet.CloseIdleConnectionsFor(client.Transport) } // a connection is idle when its last request has ended
			closeIdle()
			before := settled()

			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 20)
			for i := range 10 {
				body := newEndlessBody()
				method, contentType := http.MethodPost, "application/json"
				if i%2 == 1 {
					method, contentType = http.MethodPatch, "application/merge-patch+json"
				}
				url := config.Host + configMapsPath + map[string]string{http.MethodPost: "", http.MethodPatch: "/x"}[method]
				go func() { ended <- do(ctx, client, method, url, contentType, body) }()
				receiveClosed(t, body.begun)
				watching, err := kube(t, config).CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
				require.NoError(t, err)
				defer watching.Stop()
			}
			require.Greater(t, settled(), before)
			cancel()
			for range 10 {
				require.Error(t, receive(t, ended))
			}
			assert.Eventually(t, func() bool {
				closeIdle()
				return settled() <= before
			}, time.Minute, 10*time.Millisecond, "goroutines are left of requests whose clients have gone")
		})
	}
}

func do(ctx context.Context, client *http.Client, method, url, contentType string, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// receiveClosed waits for a channel to be closed, a minute at most.
func receiveClosed(t *testing.T, from <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-from:
	case <-ctx.Done():
		require.FailNow(t, "nothing came", ctx.Err())
	}
}
