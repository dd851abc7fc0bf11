package emulator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// ErrBadSnapshot is returned for what is no snapshot, is damaged, or was written by a version of this package with another
// format.
var ErrBadSnapshot = mvcc.ErrBadSnapshot

// ErrNotInMemory is returned for snapshots of a server whose objects are in an etcd cluster ([Options].Etcd), and for
// setting it back to one. The cluster has its own means: etcdctl snapshot save, etcdutl snapshot restore.
var ErrNotInMemory = errors.New("the objects of this server are in an etcd cluster, not in its memory")

// Snapshot is everything that a server has stored at one moment, without its history: a state for tests to begin with.
// It does not change any more and may be used by many servers and goroutines. Memory is shared between it and the servers;
// it costs what they overwrite.
//
// The server's options are not part of it. A snapshot with objects that a server does not serve, by its gates, is taken
// as it is: they are stored and out of reach, as in a kube-apiserver.
type Snapshot struct {
	state mvcc.Snapshot
}

// Snapshot returns the present state of the server, for Restore and Rewind or for [Options].Restore of others. It takes some ten
// nanoseconds an object. The error is ErrStopped or ErrNotInMemory.
func (s *Server) Snapshot() (*Snapshot, error) {
	if s.memory == nil {
		return nil, fmt.Errorf("taking a snapshot: %w", ErrNotInMemory)
	}
	state, err := s.memory.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("taking a snapshot: %w", stoppedIfClosed(err))
	}
	return &Snapshot{state: state}, nil
}

// Restore sets the server back to a snapshot, its own or another server's: objects that are not in it are gone, others
// are as they were, in well under a millisecond for hundreds of them. Requests under way see the state before or after,
// never a mixture, but one that reads and then writes may do so on both sides; the controllers of the server pause.
//
// The server's resource version rises all the same, as it does with every write. An object that is as the snapshot has
// it keeps its own; any other that comes back gets a new one. A UID may so return that was deleted.
//
// No watch is told of what did not happen. All that run end with 410 Gone, resource versions from before count as too old,
// and continue tokens of lists expire. Informers list anew by themselves, but after their back-off: about a second, and
// twice as long each time if two minutes have not gone by. A test that is in a hurry spares itself that by starting them
// after Restore, or by running in a testing/synctest bubble.
//
// Rewind keeps watches alive. The error is ErrStopped, ErrNotInMemory or, for nil and for a snapshot that no server has
// taken, ErrBadSnapshot.
func (s *Server) Restore(snapshot *Snapshot) error {
	return s.setBack(snapshot, func() error {
		_, err := s.memory.Restore(snapshot.state)
		return err
	})
}

// Rewind sets the server back to a snapshot as Restore does, but in the way of a client that were to write it back, object
// by object, and with no other write between: watches go on, and are told that what is new is deleted, what has changed
// is modified, and what was deleted is added. This is for informers and controllers that run on from one test case to the
// next: they have caught up as soon as they have dealt with these events. What they remember themselves, such as a
// Job's progress, is theirs to forget.
//
// What is unlike writes of a client: a UID may return that was deleted, a deletionTimestamp may go, generations may fall,
// and validation and admission are not asked. An object that was deleted and made anew under its name, with another UID,
// is deleted before the old one is added.
//
// The error is ErrStopped, ErrNotInMemory or, for nil and for a snapshot that no server has taken, ErrBadSnapshot.
func (s *Server) Rewind(snapshot *Snapshot) error {
	return s.setBack(snapshot, func() error {
		_, err := s.memory.Rewind(snapshot.state, func(now, then *mvcc.KeyValue) bool {
			return objects.UID(now.Value) != objects.UID(then.Value)
		})
		return err
	})
}

// setBack has the store set back to a snapshot, by do, while no controller is at work.
func (s *Server) setBack(snapshot *Snapshot, do func() error) error {
	if s.memory == nil {
		return fmt.Errorf("restoring a snapshot: %w", ErrNotInMemory)
	}
	if !snapshot.taken() {
		return fmt.Errorf("restoring a snapshot: %w: it %s", ErrBadSnapshot, noSnapshot)
	}
	err := s.controllers.pause(func() error {
		defer s.configured.hooks.AllChanged() // for the very next request
		return do()
	})
	if err != nil {
		return fmt.Errorf("restoring a snapshot: %w", stoppedIfClosed(err))
	}
	return nil
}

func stoppedIfClosed(err error) error {
	if errors.Is(err, mvcc.ErrClosed) {
		return ErrStopped
	}
	return err
}

// taken says whether it is the state of a server: the zero value is none, for a server has revisions from 1 on.
func (s *Snapshot) taken() bool { return s != nil && s.state.Revision > 0 }

// Len returns the number of objects.
func (s *Snapshot) Len() int { return len(s.state.KVs) }

// ResourceVersion returns the resource version of the server at the snapshot, which is that of a list made then.
func (s *Snapshot) ResourceVersion() string { return strconv.FormatInt(s.state.Revision, 10) }

// WriteTo writes the snapshot in a form of its own, which ReadSnapshot reads. It holds objects as they are stored, Secrets
// among them in the clear.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) { return s.state.WriteTo(w) }

// ReadSnapshot reads a snapshot up to the end of r. The error is that of r or ErrBadSnapshot, with what is wrong.
func ReadSnapshot(r io.Reader) (*Snapshot, error) {
	state, err := mvcc.ReadSnapshot(r)
	if err != nil {
		return nil, err
	}
	return &Snapshot{state: state}, nil
}

// WriteFile writes the snapshot to a file, which only its owner may read, in place of one that may be there.
func (s *Snapshot) WriteFile(path string) error {
	var contents bytes.Buffer
	if _, err := s.WriteTo(&contents); err != nil {
		return err
	}
	if err := os.WriteFile(path, contents.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	return nil
}

// ReadSnapshotFile reads a snapshot from a file. The error is that of the file system or ErrBadSnapshot.
func ReadSnapshotFile(path string) (*Snapshot, error) {
	contents, err := os.ReadFile(path) //nolint:gosec // the caller's to choose
	if err != nil {
		return nil, fmt.Errorf("reading a snapshot: %w", err)
	}
	snapshot, err := ReadSnapshot(bytes.NewReader(contents))
	if err != nil {
		return nil, fmt.Errorf("reading a snapshot from %s: %w", path, err)
	}
	return snapshot, nil
}
