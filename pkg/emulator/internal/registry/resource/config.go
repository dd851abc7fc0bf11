package resource

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/features"
)

// Config is what the storages of all kinds are made from.
type Config struct {
	// Typer knows the kinds of the served types.
	Typer runtime.ObjectTyper
	// Getter gives the storage of each resource.
	Getter generic.RESTOptionsGetter
	// Gates of the server.
	Gates features.Gates
	// Clock tells the ages in tables and the times that strategies write.
	Clock clock.PassiveClock
	// Access says who may do what.
	Access Access
	// AdmissionChanged is told of each write of a kind that configures admission: by the name of the resource, once it is
	// stored and before the client has its answer. Nil for nobody.
	AdmissionChanged func(resource string)
	// Logs has what containers write; nil if nobody does.
	Logs LogSource
}

// LogSource has what containers write: it stands for the kubelets.
type LogSource interface {
	// ContainerLogs returns the log of the container that the options name, as they have it.
	ContainerLogs(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error)
}
