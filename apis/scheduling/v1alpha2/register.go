package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of Workload and PodGroup. Kubernetes serves PriorityClass, which this package does not
// hold, in the same group.
const GroupName = "scheduling.k8s.io"

// SchemeGroupVersion is the group and version of every kind in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha2"}

var (
	// SchemeBuilder collects what [AddToScheme] applies: the kinds of this package, and their defaults.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes, RegisterDefaults)

	// AddToScheme registers the kinds of this package with a scheme, together with the defaults that an API server
	// sets on every decode: a PodGroup without spec.disruptionMode gets "Pod". Call it on a scheme of your own; calling
	// it twice on one scheme changes nothing.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind returns the GroupKind of a kind of this package, such as "PodGroup".
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource returns the GroupResource of a resource of this package, such as "podgroups": the form that apierrors
// constructors take.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Workload{},
		&WorkloadList{},
		&PodGroup{},
		&PodGroupList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
