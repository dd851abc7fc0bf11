// Package rbactest tests the manifests of controllers that say which rights they need: [Apply] creates their objects on a
// server with RBAC, and [As] returns clients that have the rights of the ServiceAccount, and what they use of [Rights].
package rbactest
