package emulatortest

import (
	"context"
	"testing"

	"github.com/musterkube/muster/pkg/emulator"
)

// Start starts a server that is stopped at the end of the test, after the test's own cleanup functions. It fails the test if
// the server does not start.
//
// Unless the options have a logger, the server's log is that of the test; see [Logger]. If the test has failed when its
// cleanup functions have run, the last requests are printed; see [Recorder].
func Start(tb testing.TB, options emulator.Options) *emulator.Server {
	tb.Helper()
	if options.Logger.IsZero() {
		options.Logger = Logger(tb)
	}
	recorder := NewRecorder()
	options.WrapHandler = recorder.Before(options.WrapHandler)
	server, err := emulator.Start(context.WithoutCancel(tb.Context()), options)
	if err != nil {
		tb.Fatalf("starting the API server: %v", err)
	}
	tb.Cleanup(server.Stop)
	tb.Cleanup(func() { recorder.Report(tb) })
	return server
}
