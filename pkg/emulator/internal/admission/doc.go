// Package admission is the admission control of the emulator: what a kube-apiserver 1.36 does to, and asks of, an object
// between decoding and validation, beyond what the object itself says. [New] returns the chain of plugins.
//
// The plugins are those that Kubernetes switches on by default and that touch a resource which the emulator serves, but
// for ServiceAccount, LimitRanger, ResourceQuota and PodSecurity and those for storage and ingress classes. Kubernetes' own read informers and wait for them; these read the
// storages, so that they see every write before them and never wait. They register nowhere and share nothing between
// servers.
package admission
