// Package emulator is a Kubernetes API server in the caller's process. It starts in milliseconds, without etcd, binaries
// or ports, and answers as a kube-apiserver 1.36 does: it is the real k8s.io/apiserver, over a store in memory.
//
// [Start] starts a [Server], [Server.Config] is what clients connect with, and [Server.Stop] ends it:
//
//	server, err := emulator.Start(ctx, emulator.Options{})
//	if err != nil { … }
//	defer server.Stop()
//	client, err := kubernetes.NewForConfig(server.Config())
//
// Requests of that configuration never leave the process. [Server.Listen] opens a door for others, such as kubectl, and
// [Server.WriteKubeconfig] tells them where it is; [Server.Handler] is for a listener of one's own. Servers share nothing
// that could be changed: a process may run many, each with its own objects and its own feature gates.
//
// # What is emulated
//
// Of core/v1: ConfigMaps, Events, Namespaces, Nodes, Pods (with status, binding, ephemeral containers, eviction, which heeds
// PodDisruptionBudgets, and, if [Options].Logs has them, logs), Secrets and ServiceAccounts. Jobs of batch/v1, Leases, Events
// of events.k8s.io, PriorityClasses, and the Workloads and PodGroups of scheduling.k8s.io/v1alpha2. For these: the defaults,
// validation, table columns and error texts of 1.36, fields of newer versions being unknown; and the admission plugins that
// Kubernetes has on for them ([Options].DisabledAdmission).
//
// Other kinds are stored and nothing is done with them, but with the same care for defaults, status, scale, generations,
// tables and the rules that their users meet: Endpoints, LimitRanges, PersistentVolumeClaims, PersistentVolumes, PodTemplates,
// ReplicationControllers, ResourceQuotas and Services (with addresses from 10.96.0.0/12 and ports of nodes from 30000 on);
// ControllerRevisions, DaemonSets, Deployments, ReplicaSets and StatefulSets of apps/v1; HorizontalPodAutoscalers of
// autoscaling/v2; CronJobs; EndpointSlices; Ingresses, IngressClasses and NetworkPolicies; PodDisruptionBudgets; DeviceClasses,
// ResourceClaims, ResourceClaimTemplates and ResourceSlices of resource.k8s.io/v1; RuntimeClasses, which pods take after; and
// StorageClasses.
//
// JSON, YAML and protobuf; the four kinds of patches, server-side apply with managed fields among them; dry run, field
// validation, tables, partial metadata, lists in pages, field and label selectors; watches with bookmarks, from any
// resource version that is remembered, and watch lists; discovery in both forms, OpenAPI 2 and 3, /version and the health
// endpoints; impersonation. A new server has the four system namespaces and the two system priority classes.
//
// # What is not
//
//   - Controllers, but for the two without which nothing goes for good, garbage collection and the emptying of deleted
//     Namespaces ([Options].DisabledControllers). Nothing binds Pods, runs them, or makes them from Jobs: what does is a
//     client of the server, to be started beside it.
//   - Other users: there is one token, the administrator's. Those whom he impersonates may read what the server offers and
//     nothing else, unless the group system:masters is among theirs: Roles are not evaluated. Without a token, the health
//     endpoints answer, and everything else is 401.
//   - Other resources, custom ones included; admission webhooks and policies; ServiceAccount tokens; the proxy, exec,
//     attach and port-forward of pods; audit logs, metrics, priority and fairness.
//   - Of the kinds that are only stored: admission (LimitRanger, ResourceQuota, the plugins for storage and ingress classes and
//     for protecting volumes in use), the checks of volume sources, of CEL expressions and of metrics, the second address
//     family of Services, the Service and Endpoints named kubernetes, services/proxy, pods/resize, and autoscaling/v1 but for
//     Scales. Where a message shows part of an object, its fields have the names of the API rather than those of the Go types
//     within Kubernetes.
//   - Requests other than GET for the list of groups (405), the Go types that an answer of 406 names, the seconds that a
//     kube-apiserver goes on trying an eviction whose preconditions fail, and what it forgets as it compacts: versions that
//     would be too old there may be known here.
//   - The watch cache. Every list and watch reads the store, so resourceVersion=0 means the newest state, too.
//   - Durability. An etcd cluster in place of memory is to come ([Options].Etcd).
//
// # Time
//
// The server runs in a testing/synctest bubble with its clients, if all of them are started there: an hour of back-off
// takes the time of what happens in it. One thing stands in the way, which is global and therefore left to the test: after
// an error, utilruntime.HandleError of apimachinery sleeps until a moment of the process's clock, which to a bubble is
// decades away. Leave it its first handler only, before the bubble is opened:
//
//	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//
// # Logs
//
// What the server logs goes to [Options].Logger, and nowhere by default. The libraries below have some messages that take
// no logger and go to klog: an answer of 500, a panic, a watch of what was compacted, a query that cannot be parsed, and some
// that follow from an ordinary Stop, such as of a watch that was cut off. These are examples, not a full list, and only
// klog's own settings quiet them.
//
// # Cost
//
// A start takes some ten milliseconds, and an idle server no goroutine but those of its controllers. Schemas are built when they are first needed and kept for the
// process: the first write waits some 15 ms for them, the first request for /openapi some 100 ms.
package emulator
