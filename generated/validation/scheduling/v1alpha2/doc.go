// +k8s:validation-gen=*
// +k8s:validation-gen-input=github.com/musterkube/muster/apis/scheduling/v1alpha2
// +k8s:validation-gen-scheme-registry=nil

// Package v1alpha2 holds the declarative validation of Workload and PodGroup: what the +k8s: markers on their types say,
// as functions. [Validate_Workload] and [Validate_PodGroup] are the entry points; they return the errors that
// kube-apiserver 1.36 returns for the same rules, with the same paths.
//
// An operation's Options must hold every feature gate that a marker names, on or off: a gate that is left out is an
// internal error. pkg/features makes such a map.
//
// This is not the whole of validation: metadata and conditions are not looked at, nor anything that markers cannot say.
// Call pkg/validation for that. Apart from this comment, code generation writes this package.
package v1alpha2
