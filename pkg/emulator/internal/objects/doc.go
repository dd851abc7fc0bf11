// Package objects reads the metadata of everything that a server stores, and follows what becomes of it.
//
// [Reader] lists all objects once and then tails a single watch of the etcd client over the whole key space, whatever
// the kind. It thus costs one goroutine where informers would cost several for each resource, sees changes as soon as
// they are stored, and works as well on an etcd cluster to which other servers write. Only metadata is decoded.
//
// The garbage collector and the namespace controller are built on it. It writes nothing.
package objects
