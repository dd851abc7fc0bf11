// Package workload serves scheduling.k8s.io/v1alpha2 Workloads, which have no status. [New] is its entry point.
package workload
