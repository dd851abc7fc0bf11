// Package resource holds what the resources of the emulator have in common: a strategy without rules of its own to build
// on ([Strategy]), the store of a kind ([New]), its subresources that update part of an object ([Subresource]), and the
// tables that kubectl prints ([Table]).
//
// A kind's package says what differs: what is wiped and restored, what is checked, and its columns.
package resource
