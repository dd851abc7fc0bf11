package coalesce_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/coalesce"
)

// counting counts the writes to a connection.
type counting struct {
	net.Conn
	writes atomic.Int64
}

func (c *counting) Write(data []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(data)
}

// pair returns the two ends of a TLS connection, and how often was written below the first.
func pair(t *testing.T) (server, client *tls.Conn, writes *atomic.Int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	ours, theirs := net.Pipe()
	counted := &counting{Conn: ours}
	server = tls.Server(counted, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}, MinVersion: tls.VersionTLS13})
	client = tls.Client(theirs, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}) //nolint:gosec // nobody else is at the other end
	handshake := make(chan error, 1)
	go func() { handshake <- server.Handshake() }()
	require.NoError(t, client.Handshake())
	// The server's last message of a handshake is read with the first data.
	go func() { _, _ = server.Write([]byte("hello")) }()
	_, err = io.ReadFull(client, make([]byte, 5))
	require.NoError(t, err)
	require.NoError(t, <-handshake)
	counted.writes.Store(0)
	return server, client, &counted.writes
}

func TestEverythingArrivesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client, _ := pair(t)
		conn := coalesce.New(server)
		received := make(chan []byte, 1)
		go func() {
			all, err := io.ReadAll(client)
			assert.NoError(t, err)
			received <- all
		}()
		var sent bytes.Buffer
		for i := range 2000 {
			piece := bytes.Repeat([]byte{byte(i)}, i)
			sent.Write(piece)
			n, err := conn.Write(piece)
			require.NoError(t, err)
			require.Equal(t, len(piece), n)
			clear(piece) // it is the caller's again
		}
		require.NoError(t, conn.Close())
		assert.True(t, bytes.Equal(sent.Bytes(), <-received))

		_, err := conn.Write([]byte("x"))
		require.ErrorIs(t, err, net.ErrClosed)
		require.Error(t, conn.Close(), "it was closed before")
	})
}

func TestWhatIsWrittenMeanwhileGoesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client, writes := pair(t)
		conn := coalesce.New(server)
		for range 100 {
			_, err := conn.Write([]byte("0123456789")) // nobody reads yet
			require.NoError(t, err)
		}
		_, err := io.ReadFull(client, make([]byte, 1000))
		require.NoError(t, err)
		synctest.Wait()
		assert.LessOrEqual(t, writes.Load(), int64(2), "what was first, and all the rest")
		go func() { _, _ = io.Copy(io.Discard, client) }()
		require.NoError(t, conn.Close())
	})
}

func TestWritesWaitForAPeerThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client, _ := pair(t)
		conn := coalesce.New(server)
		var written atomic.Int64
		ended := make(chan error, 1)
		go func() {
			for {
				n, err := conn.Write(make([]byte, 64<<10))
				written.Add(int64(n))
				if err != nil {
					ended <- err
					return
				}
			}
		}()
		synctest.Wait()
		assert.Less(t, written.Load(), int64(1<<20))
		before := written.Load()

		_, err := io.CopyN(io.Discard, client, 512<<10)
		require.NoError(t, err)
		synctest.Wait()
		assert.Greater(t, written.Load(), before, "it goes on when there is room")

		require.Error(t, conn.Close(), "something is left that could not be sent")
		require.Error(t, <-ended)
		_ = client.Close()
	})
}

func TestWritesFailWhenThePeerHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client, _ := pair(t)
		conn := coalesce.New(server)
		require.NoError(t, client.NetConn().Close())
		_, err := conn.Write([]byte("x"))
		require.NoError(t, err, "it has not been tried")
		synctest.Wait()
		_, err = conn.Write([]byte("x"))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.ErrorIs(t, conn.Close(), io.ErrClosedPipe)
	})
}
