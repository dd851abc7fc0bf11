package mvcc

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzReadSnapshot gives arbitrary contents a right checksum: whatever they are, they are read or refused, and what was
// read is written as it was.
func FuzzReadSnapshot(f *testing.F) {
	var good bytes.Buffer
	_, err := Snapshot{
		Revision: 9,
		KVs: []*KeyValue{
			{Key: "a", Value: []byte("1"), CreateRevision: 2, ModRevision: 3, Version: 2, Lease: 5},
			{Key: "b", Value: []byte{}, CreateRevision: 4, ModRevision: 4, Version: 1},
		},
		Leases: []Lease{{ID: 5, TTL: 60, Remaining: 30, Keys: []string{"a"}}},
	}.WriteTo(&good)
	require.NoError(f, err)
	f.Add(good.Bytes()[len(magic) : good.Len()-sha256.Size])
	f.Add([]byte{formatVersion, 1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, contents []byte) {
		data := append([]byte(magic), contents...)
		sum := sha256.Sum256(data)
		snapshot, err := ReadSnapshot(bytes.NewReader(append(data, sum[:]...)))
		if err != nil {
			require.ErrorIs(t, err, ErrBadSnapshot)
			return
		}
		db, err := Restore(snapshot, Options{})
		require.NoError(t, err)
		db.Close()
		var again bytes.Buffer
		_, err = snapshot.WriteTo(&again)
		require.NoError(t, err)
		read, err := ReadSnapshot(&again)
		require.NoError(t, err)
		require.Equal(t, snapshot, read)
	})
}
