// Package muster is the root of a library for workloads that start together and run to completion on Kubernetes.
// It holds no code itself; this page is the tour.
//
// Kubernetes 1.36 has gang scheduling in scheduling.k8s.io/v1alpha2: a Workload is a static policy, a PodGroup the
// runtime object made from one of its templates, and the scheduler starts the pods of a group all at once or not at
// all. Muster speaks that API, runs Jobs on it, and emulates it for tests.
//
// The house has floors; a package may import those below it, never those above:
//
//   - apis/scheduling/v1alpha2: the types, and nothing heavier than apimachinery.
//   - generated: clientset, listers, informers, apply configurations, OpenAPI and declarative validation; all of it
//     machine-written by hack/update-codegen.sh. pkg/features: the feature gates as a value.
//   - pkg/core, pkg/batch, pkg/validation, pkg/builder: what pods, Jobs, Workloads and PodGroups mean, as pure
//     functions: defaults, validation, policies, legal status transitions, and the Workload and PodGroups of a Job.
//   - pkg/controller/job and its neighbours (leader election, protection of PodGroups, expiry of Jobs, lost nodes and
//     their pods), pkg/scheduler, pkg/kubelet: the parts that act. They meet only over a *rest.Config, so each also runs
//     against a real cluster's API server.
//   - pkg/emulator: an API server in the caller's process, a real k8s.io/apiserver over a store in memory.
//   - pkg/cluster: all of it wired, in one call; pkg/cluster/clustertest: the same in virtual time, for tests.
//   - pkg/testing/wrappers and pkg/testing/expect: what tests make objects with, and wait for; only clustertest leans on
//     them.
//   - examples: programs to copy from.
//
// Where to start: [github.com/musterkube/muster/pkg/cluster] to test a controller against something that behaves,
// [github.com/musterkube/muster/pkg/builder] to give a controller's pods a gang,
// [github.com/musterkube/muster/pkg/controller/job] to run Jobs as an external controller.
package muster
