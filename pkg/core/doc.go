// Package core holds the rules of the core/v1 Pod that Jobs need, as pure functions: what an API server of Kubernetes
// 1.36 fills in ([SetPodDefaults], [SetPodTemplateDefaults]), what it does to a pod before it stores it
// ([PreparePodForCreate], [DropDisabledPodFields], [Bind]), what it refuses ([ValidatePod], [ValidatePodTemplate],
// [ValidatePodUpdate], [ValidatePodStatusUpdate]) and warns of ([PodWarnings]), and what controllers read off a pod
// ([PodActive], [FinishTime], [QOSClass]).
//
// A server calls them in this order: decode, SetPodDefaults, admission, PreparePodFor…, Validate…. Answers have the
// paths, the types, the wording and the order of kube-apiserver 1.36, comparisons of refused updates included; only
// where Kubernetes walks a map at random, names are taken in their order here.
//
// Feature gates of Kubernetes 1.36 that are on by default are taken to be on, others to be off, save for those of
// features.Gates. Privileged containers are allowed.
//
// Not looked at, and accepted as it is:
//   - what gates hold back that are off, in the objects of a server that had them on once and goes on keeping it: trust
//     bundles and pod certificates in projected volumes, stop signals, digests of image volumes, node-allocatable claim
//     statuses (from others they are dropped);
//   - the subresources ephemeralcontainers and resize.
//
// What depends on other objects (priorities, service accounts, quotas, limit ranges, runtime classes) is the business
// of admission and not of this package.
package core
