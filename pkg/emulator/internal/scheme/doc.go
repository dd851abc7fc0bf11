// Package scheme holds the types that the emulator serves, and what happens to them on the way in and out: their defaults,
// the field labels that selectors may name, the conversion between the two Event APIs, and the fields that the Go types
// have but Kubernetes 1.36 does not.
//
// [New] is the entry point. The external Go type of each kind is also its internal one, so no conversion code stands
// between the wire, the strategies and the storage. The price is that whatever Kubernetes does while it converts (the
// alias spec.serviceAccount of pods, stringData of Secrets, podIP and podIPs) is done by the defaulting functions here.
//
// Fields that Kubernetes 1.36 does not know are reported where JSON or YAML is decoded: bodies of creates and updates, and
// what JSON and merge patches result in. Server-side apply refuses them by the OpenAPI schema, if [Newer] is left out of
// that. A strategic merge patch is applied to the Go type without any decoding, so there they vanish without a word.
//
// The package knows nothing of HTTP, of storage or of feature gates: one scheme serves every server of a process.
package scheme
