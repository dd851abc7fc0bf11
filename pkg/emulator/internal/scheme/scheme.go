package scheme

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// Scheme is the runtime.Scheme of the emulator with the codecs that are made from it. It does not change once made, so
// servers share it.
type Scheme struct {
	*runtime.Scheme
	// Codecs encodes and decodes without regard to fields that are newer than Kubernetes 1.36.
	Codecs serializer.CodecFactory
	// Serializer is Codecs for the bodies of requests: it also reports the fields that Kubernetes 1.36 does not know,
	// so that fieldValidation=Strict refuses them and fieldValidation=Warn warns of them.
	Serializer runtime.NegotiatedSerializer
	// ParameterCodec decodes query parameters.
	ParameterCodec runtime.ParameterCodec

	protobuf *protobuf.Serializer
}

// shared is built on first use: a scheme takes some milliseconds to make and is the same for every server.
var shared = sync.OnceValue(build)

// New returns the scheme. All callers in a process share one.
func New() *Scheme {
	return shared()
}

// build assembles the scheme. What can go wrong here is wrong in every process, whatever its input: a type registered
// twice, say. Such mistakes panic, and the package's tests see them.
func build() *Scheme {
	s := runtime.NewScheme()
	registerTypes(s)
	utilruntime.Must(registerEventConversions(s))
	utilruntime.Must(registerOldEvictions(s))
	utilruntime.Must(registerFieldLabels(s))
	utilruntime.Must(registerLogOptions(s))
	registerDefaults(s)
	codecs := serializer.NewCodecFactory(s)
	return &Scheme{
		Scheme:         s,
		Codecs:         codecs,
		Serializer:     newRequestSerializer(codecs, s),
		ParameterCodec: runtime.NewParameterCodec(s),
		protobuf:       protobuf.NewSerializer(s, s),
	}
}

// StorageVersion returns the group and version in which the objects of a resource are stored: that of the resource
// itself, but core/v1 for events of both APIs.
func (s *Scheme) StorageVersion(resource schema.GroupResource) schema.GroupVersion {
	switch {
	case resource.Group == eventsGroup:
		return corev1.SchemeGroupVersion
	case resource.Group == schedulingv1alpha2.GroupName && resource.Resource != "priorityclasses":
		return schedulingv1alpha2.SchemeGroupVersion
	}
	if versions := s.PrioritizedVersionsForGroup(resource.Group); len(versions) > 0 {
		return versions[0]
	}
	return schema.GroupVersion{Group: resource.Group, Version: runtime.APIVersionInternal}
}
