package pod

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// podLog serves pods/log. Which container is meant is found out here; what it wrote, the source knows.
type podLog struct {
	pods   *resource.REST
	source resource.LogSource
}

var (
	_ rest.GetterWithOptions = (*podLog)(nil)
	_ rest.StorageMetadata   = (*podLog)(nil)
)

// New implements rest.Storage.
func (l *podLog) New() runtime.Object { return &corev1.Pod{} }

// Destroy implements rest.Storage.
func (l *podLog) Destroy() {}

// ProducesMIMETypes implements rest.StorageMetadata.
func (l *podLog) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject implements rest.StorageMetadata.
func (l *podLog) ProducesObject(string) any { return "" }

// NewGetOptions implements rest.GetterWithOptions.
func (l *podLog) NewGetOptions() (options runtime.Object, subpath bool, key string) {
	return &corev1.PodLogOptions{}, false, ""
}

// Get implements rest.GetterWithOptions.
func (l *podLog) Get(ctx context.Context, name string, opts runtime.Object) (runtime.Object, error) {
	options, ok := opts.(*corev1.PodLogOptions)
	if !ok {
		return nil, fmt.Errorf("invalid options object: %#v", opts)
	}
	if errs := validateLogOptions(options); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, name, errs)
	}
	found, err := l.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod, ok := found.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("unexpected object type: %#v", found)
	}
	options = options.DeepCopy()
	if options.Container, err = chooseContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return &logStream{source: l.source, pod: pod, options: options}, nil
}

func validateLogOptions(options *corev1.PodLogOptions) field.ErrorList {
	var errs field.ErrorList
	if n := options.TailLines; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *n, "must be greater than or equal to 0"))
	}
	if n := options.LimitBytes; n != nil && *n < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *n, "must be greater than 0"))
	}
	switch n := options.SinceSeconds; {
	case n != nil && options.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case n != nil && *n < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *n, "must be greater than 0"))
	}
	if options.Stream != nil {
		// The gate PodLogsQuerySplitStreams is off in 1.36.
		errs = append(errs, field.Forbidden(field.NewPath("stream"), "may not be specified"))
	}
	return errs
}

// chooseContainer returns which container of the pod is meant.
func chooseContainer(pod *corev1.Pod, asked string) (string, error) {
	if asked == "" && len(pod.Spec.Containers) == 1 {
		return pod.Spec.Containers[0].Name, nil
	}
	var names []string
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	if asked == "" {
		return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, names))
	}
	for _, name := range names {
		if name == asked {
			return name, nil
		}
	}
	return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", asked, pod.Name))
}

// logStream is a log that is still to be opened.
type logStream struct {
	source  resource.LogSource
	pod     *corev1.Pod
	options *corev1.PodLogOptions
}

var (
	_ runtime.Object        = (*logStream)(nil)
	_ rest.ResourceStreamer = (*logStream)(nil)
)

// GetObjectKind implements runtime.Object.
func (s *logStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (s *logStream) DeepCopyObject() runtime.Object {
	return &logStream{source: s.source, pod: s.pod.DeepCopy(), options: s.options.DeepCopy()}
}

// InputStream implements rest.ResourceStreamer. A pod on no node has no log, which is no error.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (stream io.ReadCloser, flush bool, mediaType string, err error) {
	if s.pod.Spec.NodeName == "" {
		return nil, false, "", nil
	}
	if s.source == nil {
		return nil, false, "", apierrors.NewInternalError(errors.New("this server was started without a source of logs"))
	}
	stream, err = s.source.ContainerLogs(ctx, s.pod, s.options)
	if err != nil {
		if status := apierrors.APIStatus(nil); !errors.As(err, &status) {
			err = apierrors.NewBadRequest(err.Error())
		}
		return nil, false, "", err
	}
	return stream, s.options.Follow, "text/plain", nil
}
