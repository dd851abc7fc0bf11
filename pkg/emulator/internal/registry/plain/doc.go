// Package plain serves the built-in kinds that need no package of their own: services, the workloads of apps/v1, claims
// and volumes, quotas, budgets, and so on. [New] is its entry point.
//
// Each kind is one row of a table (see rows): its names, its tables, and as functions whatever rules it has beyond those
// that all kinds share. What all share is in strategy.go: the status is apart from the rest, the generation counts
// changes of what is wanted, metadata is valid. The kinds' defaults are those of package scheme.
//
// The rules are the ones that those meet who write manifests and controllers; where Kubernetes checks more, of the
// sources of persistent volumes or the CEL expressions of device claims say, the package lets it pass. Nothing is done
// with the objects: quotas limit nothing and no volume is ever bound.
package plain
