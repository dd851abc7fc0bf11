package emulatortest

import (
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// Logger returns a logger that writes to the log of a test, with the time of day, messages of verbosity 0 only. It falls
// silent when the test's cleanup functions have run (those that were registered after the call): what still runs then may go
// on logging, where the test's own Log would panic.
func Logger(tb testing.TB) logr.Logger {
	tb.Helper()
	var mu sync.Mutex
	ended := false
	tb.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
	})
	write := func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ended:
		case prefix == "":
			tb.Log(args)
		default:
			tb.Log(prefix + ": " + args)
		}
	}
	return funcr.New(write, funcr.Options{LogTimestamp: true, TimestampFormat: "15:04:05.000"})
}
