package transport_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/utils/clock"

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

func TestSettledAnswersAreNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, tr := start(t, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			wait := time.Millisecond
			if r.Method == http.MethodPost {
				wait = time.Hour
			}
			select {
			case <-clock.RealClock{}.After(wait):
				_, _ = io.WriteString(w, "done")
			case <-r.Context().Done():
			}
		})
		answered := get(t, t.Context(), client)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://muster.invalid/x", nil)
		require.NoError(t, err)
		stuck := do(t, client, request)

		before := clock.RealClock{}.Now()
		tr.Settle(time.Second)
		assert.Equal(t, time.Second, clock.RealClock{}.Since(before), "for the one that does not end")
		tr.Stop()

		body, err := io.ReadAll(answered.Body)
		require.NoError(t, err)
		assert.Equal(t, "done", string(body))
		_, err = io.ReadAll(stuck.Body)
		require.ErrorIs(t, err, transport.ErrStopped)
	})
}
