// Package builder makes Workloads and PodGroups of scheduling.k8s.io/v1alpha2, and the names of both.
//
// [FromJob] makes the Workload of a Job and [PodGroups] the PodGroups of a Workload, field for field as the Job
// controller of Kubernetes 1.36 makes them (KEP-5547); [Eligible] says whether a Job gets them, and if not, why not.
// A controller of its own kind starts with [New]: a Workload for any owner with up to eight templates, say a driver and
// its workers, and then takes a PodGroup from each with [PodGroups], or from one of them with [PodGroup].
// [SetSchedulingGroup] puts the pods of a template into a group.
//
// Names are those of the built-in controller wherever it makes a valid one, so that the two find each other's objects.
// Where its name would be refused by the API server (the template name of a Job whose name has 58 characters or more,
// or a dot) ours is shortened and ends in a hash; [Options].BuiltInNames gives the built-in ones, faults included.
//
// Everything here is pure: no client, no clock, no lookups, and no object that is passed in is changed or shared with
// the result. Objects come without TypeMeta, as typed clients want them, without defaults, which the API server sets,
// and are not validated: pkg/validation does that, and wants the defaults of a PodGroup set first, as
// schedulingv1alpha2.SetObjectDefaults_PodGroup does; a Workload has none. Whether a cluster serves the API, and
// whether a Job is new enough to get a Workload, is for the caller to know.
package builder
