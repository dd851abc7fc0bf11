// Package bootstrap has the roles and bindings that a cluster of Kubernetes 1.36 with RBAC has from the start, such as
// cluster-admin, admin, edit, view, system:discovery and those of the built-in controllers. [Policy] returns them.
//
// They are the whole of the default policy, with the rules for workloads and pod groups of scheduling.k8s.io that feature
// gates add. Rules for resources that are not served grant nothing. The package writes nothing anywhere.
package bootstrap
