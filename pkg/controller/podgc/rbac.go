package podgc

import _ "embed"

// RBAC is a manifest in YAML of what the controller needs in a cluster with RBAC: a namespace, a ServiceAccount and a
// ClusterRole with its binding.
//
//go:embed rbac.yaml
var RBAC string
