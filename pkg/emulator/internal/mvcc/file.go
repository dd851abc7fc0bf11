package mvcc

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// A snapshot in a file is the magic line, then numbers as unsigned varints and texts as their length and bytes: the
// version of the format, the revision, the number of keys and for each its key, value, three revisions and lease, the
// number of leases and for each its identity, its time to live and what remains of it in nanoseconds. The SHA-256 sum of
// all this ends the file.
const (
	magic = "mvcc snapshot\n"
	// formatVersion is to be raised with every change that an older reader would misunderstand.
	formatVersion = 1
)

// WriteTo writes the snapshot in the form that ReadSnapshot reads. Equal snapshots are written as equal bytes.
func (s Snapshot) WriteTo(w io.Writer) (int64, error) {
	size := len(magic) + sha256.Size + 64
	for _, kv := range s.KVs {
		size += len(kv.Key) + len(kv.Value) + 32
	}
	data := append(make([]byte, 0, size), magic...)
	data = binary.AppendUvarint(data, formatVersion)
	data = appendNumber(data, s.Revision)
	data = appendNumber(data, len(s.KVs))
	for _, kv := range s.KVs {
		data = appendText(data, kv.Key)
		data = appendText(data, kv.Value)
		data = appendNumber(data, kv.CreateRevision)
		data = appendNumber(data, kv.ModRevision)
		data = appendNumber(data, kv.Version)
		data = appendNumber(data, kv.Lease)
	}
	data = appendNumber(data, len(s.Leases))
	for _, l := range s.Leases {
		data = appendNumber(data, l.ID)
		data = appendNumber(data, l.TTL)
		data = appendNumber(data, l.Remaining)
	}
	sum := sha256.Sum256(data)
	n, err := w.Write(append(data, sum[:]...))
	if err != nil {
		return int64(n), fmt.Errorf("writing a snapshot: %w", err)
	}
	return int64(n), nil
}

func appendNumber[N ~int | ~int64](data []byte, n N) []byte {
	return binary.AppendUvarint(data, uint64(n)) //nolint:gosec // to be read back as it was, whatever its sign
}

func appendText[T ~string | ~[]byte](data []byte, text T) []byte {
	return append(appendNumber(data, len(text)), text...)
}

// ReadSnapshot reads what WriteTo wrote. It reads up to the end and fails with ErrBadSnapshot, or the error of r.
func ReadSnapshot(r io.Reader) (Snapshot, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Snapshot{}, fmt.Errorf("reading a snapshot: %w", err)
	}
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return Snapshot{}, fmt.Errorf("%w: it does not begin as one", ErrBadSnapshot)
	}
	d := &decoder{rest: rest}
	version := d.number()
	if d.bad || version != formatVersion {
		return Snapshot{}, fmt.Errorf("%w: its format is version %d, and only version %d can be read", ErrBadSnapshot, version, formatVersion)
	}
	end := len(data) - sha256.Size
	if end < len(magic) || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return Snapshot{}, fmt.Errorf("%w: it is damaged or cut short, for its checksum is wrong", ErrBadSnapshot)
	}
	d.rest = d.rest[:max(0, len(d.rest)-sha256.Size)]
	snapshot := d.snapshot()
	if d.bad || len(d.rest) > 0 {
		return Snapshot{}, fmt.Errorf("%w: it does not hold what it announces", ErrBadSnapshot)
	}
	if err := snapshot.check(); err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrBadSnapshot, err)
	}
	return snapshot, nil
}

// decoder takes numbers and texts off bytes. After the first that is not there, it is bad and yields zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() int64 {
	n, size := binary.Uvarint(d.rest)
	if d.bad || size <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[size:]
	return int64(n) //nolint:gosec // as it was when written
}

func (d *decoder) text() []byte {
	n := d.number()
	if d.bad || n < 0 || n > int64(len(d.rest)) {
		d.bad = true
		return nil
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

func (d *decoder) snapshot() Snapshot {
	s := Snapshot{Revision: d.number()}
	keys := map[LeaseID][]string{}
	for n := d.number(); n > 0 && !d.bad; n-- {
		kv := &KeyValue{
			// Copies, so that one value does not keep the whole file in memory.
			Key: string(d.text()), Value: bytes.Clone(d.text()),
			CreateRevision: d.number(), ModRevision: d.number(), Version: d.number(), Lease: LeaseID(d.number()),
		}
		s.KVs = append(s.KVs, kv)
		if kv.Lease != 0 {
			keys[kv.Lease] = append(keys[kv.Lease], kv.Key)
		}
	}
	for n := d.number(); n > 0 && !d.bad; n-- {
		l := Lease{ID: LeaseID(d.number()), TTL: time.Duration(d.number()), Remaining: time.Duration(d.number())}
		l.Keys = keys[l.ID]
		s.Leases = append(s.Leases, l)
	}
	return s
}

// check says what is wrong with a snapshot that no store can have made.
func (s Snapshot) check() error {
	if s.Revision < firstRevision {
		return fmt.Errorf("its revision is %d", s.Revision)
	}
	leases := map[LeaseID]bool{0: true}
	for _, l := range s.Leases {
		if leases[l.ID] {
			return fmt.Errorf("it has lease %d twice", l.ID)
		}
		leases[l.ID] = true
	}
	previous := ""
	for _, kv := range s.KVs {
		switch {
		case kv.Key <= previous:
			return fmt.Errorf("key %q is empty or out of order", kv.Key)
		case kv.Version < 1 || kv.CreateRevision < 1 || kv.CreateRevision > kv.ModRevision || kv.ModRevision > s.Revision:
			return fmt.Errorf("key %q has revisions that cannot be", kv.Key)
		case !leases[kv.Lease]:
			return fmt.Errorf("key %q names lease %d, which is not there", kv.Key, kv.Lease)
		}
		previous = kv.Key
	}
	return nil
}
