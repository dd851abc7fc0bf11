// Package access decides who may do what: it is the authorizer of the emulator, with RBAC and without.
//
// [NewRBAC] returns the authorizer that evaluates roles and bindings, which it reads through a [Source]; [NewOpen] the
// one for servers without RBAC. Both make an [Authorizer]. What roles mean is in the package rbac.
//
// The package authenticates nobody.
package access
