package sockets

import (
	"context"
	"net/http"
	"time"

	"k8s.io/utils/clock"
)

// Pause waits for a while, or until ctx ends, if ctx is that of a request from behind a socket. Requests from the process,
// whose time may be virtual, are not kept waiting.
func Pause(ctx context.Context, wait time.Duration) {
	if wait <= 0 || ctx.Value(http.ServerContextKey) == nil {
		return
	}
	timer := clock.RealClock{}.NewTimer(wait) // whatever the clock of the server: clients behind a socket are not on it
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done(): // what comes next says so
	}
}
