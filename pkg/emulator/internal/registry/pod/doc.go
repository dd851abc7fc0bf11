// Package pod serves core/v1 Pods: the main resource, their status, binding (as pods/binding and as bindings) and
// eviction. [New] is its entry point.
//
// What would need a kubelet (logs, exec, attach, port forwarding, proxying) is not here, nor are ephemeral containers
// and resizing.
package pod
