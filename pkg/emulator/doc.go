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
// PodDisruptionBudgets, and, if [Options].Logs has them, logs), Secrets and ServiceAccounts with their tokens. Jobs of
// batch/v1, Leases, Events of events.k8s.io, PriorityClasses, the CertificateSigningRequests of certificates.k8s.io (which
// nobody signs), the roles and bindings of rbac.authorization.k8s.io, the reviews of authentication.k8s.io and
// authorization.k8s.io, and the Workloads and PodGroups of scheduling.k8s.io/v1alpha2.
// For these: the defaults, validation, table columns and error texts of 1.36, fields of newer versions being unknown; and
// the admission plugins that Kubernetes has on for them ([Options].DisabledAdmission).
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
// endpoints; impersonation. A new server has the four system namespaces, the two system priority classes, and
// the Service kubernetes in namespace default, with the address 10.96.0.1 and the target port 6443 wherever it listens.
//
// Custom resources, by k8s.io/apiextensions-apiserver: CustomResourceDefinitions that a client creates, or that
// [Options].CRDs and [Options].CRDPaths name, with structural schemas, defaults, CEL rules, several versions and their
// conversion by webhooks, status and scale, columns and selectable fields, in discovery and in both OpenAPI
// documents. Objects can be made, and are found in discovery, from the moment that a client sees their definition
// established, some milliseconds after its creation: the two seconds that a kube-apiserver waits before the first are for
// the sake of other servers. Garbage collection, the emptying of Namespaces and admission are for them as for any kind.
//
// # Who may do what
//
// The administrator, whose configuration [Server.Config] is, may do everything. [Options].Tokens names other users, and
// [Server.ConfigFor] is what they connect with; [Server.ServiceAccountConfig] is a ServiceAccount's, with a token that
// the server issues, as serviceaccounts/token does for any client. Such tokens are JWTs, signed with a key of this server's
// own; they end when their time is over, and at once when the ServiceAccount, or the pod, secret or node that they are
// bound to, is deleted. A request without a token is answered 401, but for the health endpoints, and so is one with a token
// that nobody has. There are no client certificates.
//
// With [Options].RBAC, roles and bindings decide, as the RBAC authorizer of Kubernetes has it, to the texts of its
// refusals, and nobody can grant what they do not hold. A role that is written holds for the very next request. The roles
// and bindings of Kubernetes' default policy are there from the start, so that a controller's own role can be tested: run
// it as its ServiceAccount, and see what it is refused.
//
// Without, every user that the server knows, by token or as a ServiceAccount, may do everything, as with
// --authorization-mode=AlwaysAllow, also when the administrator impersonates them. It would be of no use to name users who
// may do nothing. Others, who exist by impersonation only, may read what the server offers and nothing else; so a test of
// how a client takes a refusal needs no roles.
//
// ClusterRoles that aggregate others have the rules of those when the write of any of them is answered.
//
// # Limits
//
// A body may have 3 MiB (413), a header 1 MiB (431), a JSON patch 10000 operations, and JSON and YAML 10000 levels;
// compressed bodies are not unpacked. [Server.Listen] opens doors on loopback addresses only, unless
// [Options].ListenBeyondLoopback is set.
//
// # Webhooks and policies
//
// MutatingWebhookConfigurations, ValidatingWebhookConfigurations, MutatingAdmissionPolicies, ValidatingAdmissionPolicies and
// their bindings (admissionregistration.k8s.io/v1) are served, and do what they say: k8s.io/apiserver calls and evaluates
// them. In a cluster a configuration takes effect a moment after it was written; here it has taken effect when the client
// has the answer, and so have changes of parameters and of namespace labels. A webhook is called by its URL, over the
// network, or as a service that is a handler of this process: [Options].Services, [Server.HandleService]. Until there is a
// configuration, a request pays nothing for them. What a policy would say in an audit log is nowhere to be read, the status
// of a ValidatingAdmissionPolicy stays empty, for it is for a controller to write, and the author of a policy is not asked
// whether he may read its parameters.
//
// # What is not
//
//   - Controllers, but for those without which nothing goes for good, garbage collection and the emptying of deleted
//     Namespaces, and the aggregation of ClusterRoles ([Options].DisabledControllers). Nothing binds Pods, runs them, or makes them from Jobs: what does is a
//     client of the server, to be started beside it.
//   - Anonymous requests beyond the health endpoints; client certificates; tokens in Secrets; ServiceAccounts and their
//     tokens put into pods; the document of the key that tokens are signed with (/openid/v1/jwks); the Node authorizer
//     and the admission plugin NodeRestriction.
//   - Other built-in resources; the proxy, exec, attach and port-forward of pods; audit logs, metrics, priority and
//     fairness.
//   - Of the kinds that are only stored: admission (LimitRanger, ResourceQuota, the plugins for storage and ingress classes and
//     for protecting volumes in use), the checks of volume sources, of CEL expressions and of metrics, the second address
//     family of Services, the Endpoints and the EndpointSlice named kubernetes, services/proxy, pods/resize, and autoscaling/v1 but for
//     Scales. Where a message shows part of an object, its fields have the names of the API rather than those of the Go types
//     within Kubernetes.
//   - Custom resources in groups that the server has kinds of its own in. A kube-apiserver does not serve them either.
//   - Requests other than GET for the list of groups (405), the Go types that an answer of 406 names, the seconds that a
//     kube-apiserver goes on trying an eviction whose preconditions fail, and what it forgets as it compacts: versions that
//     would be too old there may be known here.
//   - The watch cache. Every list and watch reads the store, so resourceVersion=0 means the newest state, too. Clients behind
//     a socket ([Server.Listen]) see two of its delays, and of etcd's, all the same, since there are controllers and tests that
//     only work with them: a consistent list waits until 4 ms after the last write, and a pod that is deleted at once is there
//     for 1 ms more.
//   - Durability, in memory.
//
// # State
//
// Objects are in the memory of the process, unless [Options].Etcd names an etcd cluster to keep them in, which many servers
// may share. [Server.Snapshot] keeps the state of a server in memory, to set it back to ([Server.Restore], [Server.Rewind]), to start others
// with ([Options].Restore), or to write it to a file ([Snapshot.WriteFile], [ReadSnapshotFile]). What a server in memory
// remembers of the past is bounded ([History], [Server.Compact]), and so is what waits for a watcher that does not take
// it: who asks for more, or falls behind by more, gets 410 Gone.
//
// # Time
//
// The server runs in a testing/synctest bubble with its clients, if all of them are started there: an hour of back-off
// takes the time of what happens in it. One thing stands in the way, which is global and therefore left to the test: after
// an error, utilruntime.HandleError of apimachinery sleeps until a moment of the process's clock, which to a bubble is
// decades away. Leave it its first handler only, in TestMain or init, as the variable is read without a lock:
//
//	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//
// # Logs
//
// What the server logs goes to [Options].Logger, and nowhere by default. The libraries below have some messages that take
// no logger and go to klog: an answer of 500, a panic, a watch of what was compacted, a query that cannot be parsed, and some
// that follow from an ordinary Stop, such as of a watch that was cut off. These are examples, not a full list, and only
// klog's own settings quiet them. The controllers of CustomResourceDefinitions say there that they start and stop.
//
// # Cost
//
// A start takes some ten milliseconds (twice that with RBAC, for the default policy), and an idle server no goroutine but
// those of its controllers. What looks after CustomResourceDefinitions, some sixty goroutines, starts with the first of
// them: it takes some ten milliseconds more, and each definition as long as the check of its schema does, a few
// milliseconds or, for one with a whole pod in it, some hundred. Schemas are built when they are first needed and kept for
// the process: the first write waits some 15 ms for them, the first request for /openapi some 100 ms.
package emulator
