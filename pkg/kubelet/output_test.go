package kubelet

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// written is an output of four lines, a second apart, the last without an end.
func written() *output {
	o := newOutput(1 << 20)
	for i, text := range []string{"one\n", "two\nth", "ree\n", "four"} {
		o.write(epoch().Add(time.Duration(i)*time.Second), []byte(text))
	}
	o.close(epoch().Add(4 * time.Second))
	return o
}

func TestReadingLogs(t *testing.T) {
	for name, tc := range map[string]struct {
		options corev1.PodLogOptions
		want    string
	}{
		"all":                           {want: "one\ntwo\nthree\nfour"},
		"followed after its end":        {corev1.PodLogOptions{Follow: true}, "one\ntwo\nthree\nfour"},
		"the last two":                  {corev1.PodLogOptions{TailLines: new(int64(2))}, "three\nfour"},
		"the last none":                 {corev1.PodLogOptions{TailLines: new(int64(0))}, ""},
		"the last of more than are":     {corev1.PodLogOptions{TailLines: new(int64(9))}, "one\ntwo\nthree\nfour"},
		"since a time":                  {corev1.PodLogOptions{SinceTime: new(metav1.NewTime(epoch().Add(2 * time.Second)))}, "three\nfour"},
		"of the last seconds":           {corev1.PodLogOptions{SinceSeconds: new(int64(7))}, "four"},
		"bytes":                         {corev1.PodLogOptions{LimitBytes: new(int64(6))}, "one\ntw"},
		"more bytes than there are":     {corev1.PodLogOptions{LimitBytes: new(int64(100))}, "one\ntwo\nthree\nfour"},
		"times":                         {corev1.PodLogOptions{Timestamps: true, TailLines: new(int64(1))}, "2026-05-04T12:00:04.000000000Z four"},
		"times count as bytes":          {corev1.PodLogOptions{Timestamps: true, LimitBytes: new(int64(33))}, "2026-05-04T12:00:00.000000000Z on"},
		"those since of the last lines": {corev1.PodLogOptions{TailLines: new(int64(3)), SinceTime: new(metav1.NewTime(epoch().Add(2 * time.Second)))}, "three\nfour"},
	} {
		t.Run(name, func(t *testing.T) {
			r := written().read(t.Context(), &tc.options, epoch().Add(10*time.Second))
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(got))
			require.NoError(t, r.Close())
		})
	}
}

func TestFollowingALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutput(1 << 20)
		o.write(epoch(), []byte("old\n"))
		r := o.read(t.Context(), &corev1.PodLogOptions{Follow: true, TailLines: new(int64(0))}, epoch())
		var got strings.Builder
		done := make(chan error)
		go func() {
			_, err := io.Copy(&got, r)
			done <- err
		}()
		synctest.Wait()
		o.write(epoch(), []byte("new\n"))
		synctest.Wait()
		assert.Equal(t, "new\n", got.String())
		o.write(epoch(), []byte("half"))
		synctest.Wait()
		assert.Equal(t, "new\n", got.String(), "a line is told when it is whole")
		o.close(epoch())
		require.NoError(t, <-done)
		assert.Equal(t, "new\nhalf", got.String())

		quiet := newOutput(1).read(t.Context(), &corev1.PodLogOptions{Follow: true}, epoch())
		go func() {
			_, err := io.Copy(io.Discard, quiet)
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, quiet.Close())
		require.NoError(t, <-done, "who closes it need not wait for more")
	})
}

func TestAnOutputHasALimit(t *testing.T) {
	o := newOutput(20)
	for i := range 1000 {
		o.write(epoch(), fmt.Appendf(nil, "line %d\n", i))
	}
	r := o.read(t.Context(), &corev1.PodLogOptions{}, epoch())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "line 998\nline 999\n", string(got))
	assert.Len(t, o.lines, 2)
}

func TestALineWithoutEnd(t *testing.T) {
	o := newOutput(1 << 20)
	long := strings.Repeat("x", 3*longestLine/2)
	o.write(epoch(), []byte(long+"\nnext\n"))
	r := o.read(t.Context(), &corev1.PodLogOptions{Timestamps: true}, epoch())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	const stamp = "2026-05-04T12:00:00.000000000Z "
	assert.Equal(t, stamp+long+"\n"+stamp+"next\n", string(got), "it is one line, however it is kept")
	assert.Len(t, o.lines, 3)
}

func TestTerminationMessage(t *testing.T) {
	o := newOutput(1 << 20)
	for i := range 100 {
		o.write(epoch(), fmt.Appendf(nil, "%d\n", i))
	}
	assert.Equal(t, 80, strings.Count(o.message(), "\n"))
	assert.True(t, strings.HasSuffix(o.message(), "98\n99\n"))
	o.write(epoch(), []byte(strings.Repeat("y", 5000)+"\n"))
	assert.Len(t, o.message(), messageBytes)
}
