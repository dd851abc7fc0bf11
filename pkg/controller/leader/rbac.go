package leader

import _ "embed"

// RBAC is rbac.yaml: the Role that a replica needs to take part in elections in the namespace muster-system, bound to
// the ServiceAccount of the Job controller's own manifest.
//
//go:embed rbac.yaml
var RBAC string
