// Package namespace empties namespaces that are being deleted and then lets them go, as the namespace controller of
// kube-controller-manager does.
//
// [Controller] is fed with every stored object by package objects. It deletes the pods of a namespace first and what
// else there is once they are gone, tells in the namespace's conditions what remains, and takes the finalizer
// "kubernetes" off when nothing does. It has no timers: it looks again when the last object of a kind is gone. That
// nothing is made in such a namespace is up to admission.
package namespace
