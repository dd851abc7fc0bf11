// Package podgroup serves scheduling.k8s.io/v1alpha2 PodGroups and their status. [New] is its entry point.
package podgroup
