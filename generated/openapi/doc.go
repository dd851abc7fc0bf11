// Package openapi holds the OpenAPI definitions of Workload and PodGroup, of the Kubernetes APIs that stand beside them in
// a cluster (core, batch, coordination and others of k8s.io/api), and of the types of k8s.io/apimachinery that all of them
// are made of. An API server builds from them its OpenAPI documents and what server-side apply merges by.
//
// [GetOpenAPIDefinitions] is the entry point. Definitions are named as the scheme names them
// ([k8s.io/apimachinery/pkg/runtime.Scheme.ToOpenAPIDefinitionName]).
//
// The definitions of Kubernetes are those of k8s.io/api 0.37: fields that 1.36 does not know are not left out here.
// The package is large; neither the clientset nor anything else in generated imports it. Apart from this comment, code
// generation writes this package.
package openapi
