// Package rbac decides what roles and bindings of rbac.authorization.k8s.io/v1 allow, as the RBAC authorizer of
// Kubernetes does. It is pure: no I/O, no clock, no locks.
//
// [NewPolicy] takes the objects and returns a [Policy], which answers: [Policy.Authorize] whether a request is allowed and
// which binding says so, [Policy.Rules] what somebody may do in a namespace, [Policy.RulesOf] what a role grants.
// [Policy.CheckEscalation] tells whether somebody may hand rules on, and [Aggregate] which rules an aggregated ClusterRole has.
//
// It neither reads the objects nor lets system:masters pass: that is for the caller.
package rbac
