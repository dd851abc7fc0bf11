// Package rbac serves Roles, RoleBindings, ClusterRoles and ClusterRoleBindings of rbac.authorization.k8s.io/v1. [New] is
// its entry point.
//
// Nobody can grant what they do not have: who writes a role must hold its rules or the verb escalate on roles, who writes
// a binding must hold the rules of the role or the verb bind. Rules of aggregated ClusterRoles, which a controller of
// Kubernetes fills in, are there when the write of a role that they aggregate is answered.
package rbac
