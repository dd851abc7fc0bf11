package cluster

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

// logs are those of the kubelet, which is made after the server that it is a client of.
type logs struct {
	ready chan struct{} // closed once of is set
	of    *kubelet.Kubelet
}

var _ emulator.LogSource = (*logs)(nil)

// source returns l, or nothing if there are no nodes that could have logs.
func (l *logs) source(nodes int) emulator.LogSource {
	if nodes == 0 {
		return nil
	}
	return l
}

// have says whose logs they are.
func (l *logs) have(of *kubelet.Kubelet) {
	l.of = of
	close(l.ready)
}

// ContainerLogs implements emulator.LogSource.
func (l *logs) ContainerLogs(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	select {
	case <-l.ready:
		return l.of.ContainerLogs(ctx, pod, options)
	case <-ctx.Done():
		return nil, apierrors.NewServiceUnavailable("the kubelet is not there yet")
	}
}
