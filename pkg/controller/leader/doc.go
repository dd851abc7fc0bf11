// Package leader runs a controller on one of several replicas at a time, by a Lease.
//
// [Run] is the entry point. It wraps whatever blocks until its context ends, such as the Run method of the controllers
// beside this package:
//
//	err := leader.Run(ctx, config, leader.Options{Name: "job-controller"}, controller.Run)
//
// It is client-go's leader election with one promise more: the Lease is given up only after the controller has
// stopped, so that a successor never works beside it. A process that dies gives nothing up; its Lease then runs out.
// A replica that was only cut off may still have a write under way when its Lease runs out. Controllers bear that
// because the API server refuses a write that rests on an old resource version.
//
// In a cluster with RBAC a replica needs, beside the rights of its controller, those to get, create and update Leases
// (coordination.k8s.io) in the namespace of [Options]: rbac.yaml beside this file, and [RBAC], give them to the Job
// controller's ServiceAccount in muster-system, which then goes into Options.Namespace. This package creates no namespace.
package leader
