package transport_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/musterkube/muster/pkg/emulator/internal/transport"
)

func TestStopEndsWhatRunsAndRefusesWhatComes(t *testing.T) {
	client, tr := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = io.Copy(io.Discard, r.Body) // blocks until the request is over
	})
	never, _ := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://muster.invalid/x", never)
	require.NoError(t, err)
	response := do(t, client, request)

	tr.Stop()
	tr.Stop()

	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, transport.ErrStopped)
	_, err = client.Get("https://muster.invalid/y") //nolint:bodyclose,noctx // there is none
	require.ErrorIs(t, err, transport.ErrStopped)
	assert.EqualError(t, err, `Get "https://muster.invalid/y": the API server emulator has been stopped`)
	assert.True(t, utilnet.IsConnectionRefused(err), "client-go must take it for a server that is not there")
}

func TestRefuseLetsWhatRunsFinish(t *testing.T) {
	proceed := make(chan struct{})
	client, tr := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-proceed
		_, _ = io.WriteString(w, "done")
	})
	response := get(t, t.Context(), client)
	tr.Refuse()
	_, err := client.Get("https://muster.invalid/y") //nolint:bodyclose,noctx // there is none
	require.ErrorIs(t, err, transport.ErrStopped)
	close(proceed)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "done", string(body))
}
