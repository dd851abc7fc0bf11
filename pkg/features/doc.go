// Package features holds the feature gates of Kubernetes 1.36 that concern workloads and gangs, as a value.
//
// Kubernetes keeps its gates in one variable of the process. Muster hands them around instead, so that two servers,
// or a server and a client-side check, may differ within one process. The zero value of [Gates] has every gate on,
// which is what a user of this library wants; [KubernetesDefaults] has every gate off, as a 1.36 cluster that nobody
// configured.
//
// The package knows which gate needs which other ([Gates.Validate]); it does not know what a gate does.
package features
