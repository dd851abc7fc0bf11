// Package discovery serves the list of APIs in one document, as apidiscovery.k8s.io/v2 has it, and knows the order in
// which Kubernetes lists groups and versions.
//
// [New] makes the handler from groups that do not change. The manager of k8s.io/apiserver does the same for groups that
// come and go, and logs each of them to the process's own log.
package discovery
