// Package lease serves coordination.k8s.io/v1 Leases, on which leader elections run. [New] is its entry point.
package lease
