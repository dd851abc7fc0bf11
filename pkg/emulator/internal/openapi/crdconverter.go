package openapi

import "sync"

// crdModels begin the names of the models of custom resource definitions.
const crdModels = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

// definitionsConverter is that of custom resource definitions. A kube-apiserver has a server of its own for them, which
// knows no other kinds.
var definitionsConverter = sync.OnceValues(func() (*quickConverter, error) {
	return buildConverter(func(definitionsByName) []string { return []string{crdModels + "CustomResourceDefinition"} })
})
