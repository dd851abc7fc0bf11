package nodelifecycle

import _ "embed"

// RBAC is a manifest in YAML of what the controller needs in a cluster with RBAC: a namespace, a ServiceAccount, and a
// ClusterRole and a Role in namespace kube-node-lease with their bindings.
//
//go:embed rbac.yaml
var RBAC string
