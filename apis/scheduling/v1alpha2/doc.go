// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:protobuf-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.musterkube.muster.apis.scheduling.v1alpha2
// +groupName=scheduling.k8s.io

// Package v1alpha2 holds the Workload and PodGroup API, scheduling.k8s.io/v1alpha2, as Kubernetes 1.36 serves it when
// its feature gate GenericWorkload is on (KEP-4671).
//
// A [Workload] says, once and for good, how the pods of a running piece of work are to be scheduled: one
// [PodGroupTemplate] for each set of pods that belongs together. A [PodGroup] is one such set at run time. A pod joins
// it by naming it in spec.schedulingGroup.podGroupName, and the scheduler reports on it in the PodGroup's status.
//
// k8s.io/api held these types up to its release 0.36 and dropped them in 0.37, so a program on a later client-go uses
// this package to speak to a 1.36 cluster. Go names, JSON names, protobuf numbers, patch strategies and validation
// markers are those of k8s.io/api v0.36.6: what either side encodes, the other decodes.
//
// [AddToScheme] is the entry point: it registers the kinds and their defaults with a scheme of the caller's. The package
// touches no scheme on its own. It must not meet k8s.io/api 0.36 or older in one scheme: a scheme takes one Go
// type for a kind.
//
// Validation is not here: the rules that the +k8s: markers declare are generated into generated/validation, and
// pkg/validation adds those that markers cannot say. Nor are conversions to other versions of the group, since
// no cluster serves v1alpha2 together with a later one.
package v1alpha2
