// Package discovery serves the list of APIs in one document, as apidiscovery.k8s.io/v2 has it, and knows the order in
// which Kubernetes lists groups and versions.
//
// [New] makes the handler from groups that do not change, and from others that come and go. The manager of k8s.io/apiserver
// keeps a list of both up to date; here the request asks, so that an answer is never behind what is served.
package discovery
