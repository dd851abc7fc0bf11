// Package hooks is the part of admission that clients configure: webhooks, and policies written in CEL. [New] is its
// entry point; [Hooks.Plugins] are the four admission plugins, which do nothing until the first configuration is there.
//
// Calling webhooks and evaluating policies is the work of the plugins of k8s.io/apiserver. Those learn of configurations
// from informers, and of policies once a second. Here they read the storages, and so know of every configuration that a
// client has been told is written; parameters and namespaces are read as they are needed. There are no goroutines but those
// of a call under way, and nothing is shared between servers.
package hooks
