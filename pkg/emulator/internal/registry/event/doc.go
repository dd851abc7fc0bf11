// Package event serves Events, as core/v1 and as events.k8s.io/v1 have them: one storage, whose objects are of core/v1.
// [New] is its entry point.
package event
