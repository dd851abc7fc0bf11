// Package namespace serves core/v1 Namespaces, their status and their finalization. [New] is its entry point;
// [SystemNames] are those that every cluster has.
//
// A delete only marks a namespace as Terminating while spec.finalizers names anyone; removing its content, and then the
// finalizer through namespaces/finalize, is the work of a controller.
package namespace
