package emulator

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"golang.org/x/net/http2"

	"github.com/musterkube/muster/pkg/emulator/internal/coalesce"
)

// newHTTPServer returns a server for HTTP/2 and HTTP/1.1 over TLS.
func newHTTPServer(handler http.Handler, certificate tls.Certificate, logger logr.Logger) (*http.Server, error) {
	server := &http.Server{
		Handler:           handler,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          log.New(logWriter{logger}, "", 0),
	}
	framed := &http2.Server{}
	if err := http2.ConfigureServer(server, framed); err != nil {
		return nil, fmt.Errorf("setting up HTTP/2: %w", err)
	}
	server.TLSNextProto[http2.NextProtoTLS] = func(server *http.Server, conn *tls.Conn, handler http.Handler) {
		options := &http2.ServeConnOpts{Handler: handler, BaseConfig: server}
		// This is how net/http passes on the context of a connection.
		if based, ok := handler.(interface{ BaseContext() context.Context }); ok {
			options.Context = based.BaseContext()
		}
		framed.ServeConn(coalesce.New(conn), options)
	}
	return server, nil
}

// logWriter passes on what net/http has to say of connections, such as failed handshakes.
type logWriter struct {
	logger logr.Logger
}

func (w logWriter) Write(line []byte) (int, error) {
	w.logger.V(1).Info("Connection failed", "reason", strings.TrimSpace(string(line)))
	return len(line), nil
}
