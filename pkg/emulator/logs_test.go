package emulator_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/emulator"
)

// logSource answers with what a test gives it, and remembers what it was asked.
type logSource struct {
	asked  []corev1.PodLogOptions
	answer func(ctx context.Context) (io.ReadCloser, error)
}

func (s *logSource) ContainerLogs(ctx context.Context, _ *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	s.asked = append(s.asked, *options)
	return s.answer(ctx)
}

func saying(text string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// podWithLog makes a pod of these containers, the first of several being an init container.
func podWithLog(t *testing.T, server *emulator.Server, node string, containers ...string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{NodeName: node}}
	for i, name := range containers {
		list := &pod.Spec.Containers
		if i == 0 && len(containers) > 1 {
			list = &pod.Spec.InitContainers
		}
		*list = append(*list, corev1.Container{Name: name, Image: "busybox"})
	}
	_, err := kube(t, server.Config()).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestLogOptionsReachTheSource(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	for name, tc := range map[string]struct{ options, want corev1.PodLogOptions }{
		"the only container": {corev1.PodLogOptions{}, corev1.PodLogOptions{Container: "main"}},
		"everything": {
			corev1.PodLogOptions{Container: "main", Follow: true, Previous: true, Timestamps: true, SinceTime: &since, TailLines: new(int64(0)), LimitBytes: new(int64(7))},
			corev1.PodLogOptions{Container: "main", Follow: true, Previous: true, Timestamps: true, SinceTime: &since, TailLines: new(int64(0)), LimitBytes: new(int64(7))},
		},
		"seconds": {corev1.PodLogOptions{SinceSeconds: new(int64(5))}, corev1.PodLogOptions{Container: "main", SinceSeconds: new(int64(5))}},
	} {
		t.Run(name, func(t *testing.T) {
			source := &logSource{answer: saying("hello\n")}
			server := start(t, emulator.Options{Logs: source})
			podWithLog(t, server, "n1", "main")
			text, err := kube(t, server.Config()).CoreV1().Pods("default").GetLogs("p", &tc.options).DoRaw(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "hello\n", string(text))
			require.Len(t, source.asked, 1)
			assert.Empty(t, cmp.Diff(tc.want, source.asked[0], cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) })), "(-want +got)")
		})
	}
}

func TestLogErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		containers  []string
		query       string
		answer      error
		withoutPod  bool
		wantCode    int
		wantReason  metav1.StatusReason
		wantMessage string
	}{
		"no such pod": {
			withoutPod: true, containers: []string{"main"},
			wantCode: 404, wantReason: metav1.StatusReasonNotFound, wantMessage: `pods "p" not found`,
		},
		"which of two containers": {
			containers: []string{"setup", "main", "other"},
			wantCode:   400, wantReason: metav1.StatusReasonBadRequest,
			wantMessage: "a container name must be specified for pod p, choose one of: [setup main other]",
		},
		"no such container": {
			containers: []string{"main"}, query: "container=none",
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: "container none is not valid for pod p",
		},
		"what the kubelet says": {
			containers: []string{"main"}, answer: errors.New(`container "main" in pod "p" is waiting to start: ContainerCreating`),
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: `container "main" in pod "p" is waiting to start: ContainerCreating`,
		},
		"what the source says": {
			containers: []string{"main"}, answer: apierrors.NewServiceUnavailable("later"),
			wantCode: 503, wantReason: metav1.StatusReasonServiceUnavailable, wantMessage: "later",
		},
		"fewer lines than none": {
			containers: []string{"main"}, query: "tailLines=-1", wantCode: 422, wantReason: metav1.StatusReasonInvalid,
			wantMessage: `PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`,
		},
		"no bytes": {
			containers: []string{"main"}, query: "limitBytes=0", wantCode: 422, wantReason: metav1.StatusReasonInvalid,
			wantMessage: `PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0`,
		},
		"no seconds": {
			containers: []string{"main"}, query: "sinceSeconds=0", wantCode: 422, wantReason: metav1.StatusReasonInvalid,
			wantMessage: `PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0`,
		},
		"two times": {
			containers: []string{"main"}, query: "sinceSeconds=1&sinceTime=2026-05-04T12:00:00Z", wantCode: 422, wantReason: metav1.StatusReasonInvalid,
			wantMessage: "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
		},
		"one of the streams": {
			containers: []string{"main"}, query: "stream=Stdout", wantCode: 422, wantReason: metav1.StatusReasonInvalid,
			wantMessage: `PodLogOptions "p" is invalid: stream: Forbidden: may not be specified`,
		},
		"a number that is none": {
			containers: []string{"main"}, query: "tailLines=x", wantCode: 400, wantReason: metav1.StatusReasonBadRequest,
			wantMessage: `strconv.ParseInt: parsing "x": invalid syntax`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := &logSource{answer: func(context.Context) (io.ReadCloser, error) { return nil, tc.answer }}
			server := start(t, emulator.Options{Logs: source})
			if !tc.withoutPod {
				podWithLog(t, server, "n1", tc.containers...)
			}
			err := kube(t, server.Config()).CoreV1().RESTClient().Get().
				RequestURI("/api/v1/namespaces/default/pods/p/log?" + tc.query).Do(t.Context()).Error()
			var status *apierrors.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, tc.wantMessage, status.ErrStatus.Message)
			assert.Equal(t, tc.wantReason, status.ErrStatus.Reason)
			assert.Equal(t, int32(tc.wantCode), status.ErrStatus.Code)
		})
	}
}

func TestLogOfAPodOnNoNodeIsEmpty(t *testing.T) {
	server := start(t, emulator.Options{})
	podWithLog(t, server, "", "main")
	code, _, body := raw(t, server.Config(), http.MethodGet, "/api/v1/namespaces/default/pods/p/log", "", nil)
	assert.Equal(t, http.StatusNoContent, code)
	assert.Empty(t, body)
}

func TestLogsWithoutASource(t *testing.T) {
	server := start(t, emulator.Options{})
	podWithLog(t, server, "n1", "main")
	err := kube(t, server.Config()).CoreV1().Pods("default").GetLogs("p", &corev1.PodLogOptions{}).Do(t.Context()).Error()
	require.ErrorContains(t, err, "without a source of logs")
	assert.True(t, apierrors.IsInternalError(err))
}

func TestALogIsFollowedUntilTheServerStops(t *testing.T) {
	reader, writer := io.Pipe()
	closed := make(chan struct{})
	source := &logSource{answer: func(ctx context.Context) (io.ReadCloser, error) {
		context.AfterFunc(ctx, func() {
			_ = writer.Close()
			close(closed)
		})
		return reader, nil
	}}
	server := start(t, emulator.Options{Logs: source})
	podWithLog(t, server, "n1", "main")
	stream, err := kube(t, server.Config()).CoreV1().Pods("default").GetLogs("p", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	require.NoError(t, err)
	defer func() { _ = stream.Close() }()
	for _, text := range []string{"one\n", "two\n"} {
		_, err := io.WriteString(writer, text)
		require.NoError(t, err)
		got := make([]byte, len(text))
		_, err = io.ReadFull(stream, got)
		require.NoError(t, err)
		assert.Equal(t, text, string(got), "it comes as it is written")
	}
	server.Stop()
	<-closed
}
