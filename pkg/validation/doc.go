// Package validation holds what the API server of Kubernetes 1.36 asks of Workloads and PodGroups of
// scheduling.k8s.io/v1alpha2, as pure functions: a controller can learn before it sends an object whether it would be
// refused, and with which words.
//
// [ValidateWorkload] and [ValidatePodGroup] judge an object that is to be created; their Update and StatusUpdate
// fellows judge a change. The rules are those of the types' +k8s tags, compiled into generated/validation, and what
// tags cannot say: object metadata, conditions, and names that must be found elsewhere in the object. Each returns
// every fault as the server lists it, in its order and with its field paths, types and texts.
//
// Fields whose feature gate is off are judged as the server does after it has dropped them. The Drop functions do
// that dropping; without it such a field is Forbidden.
//
// An object is taken as it stands: defaults are not set, and without them a PodGroup that a server would take may be
// refused here. schedulingv1alpha2.SetObjectDefaults_PodGroup sets those of a PodGroup, as does the Default method of a
// scheme with apis/scheduling/v1alpha2 in it; a Workload has none. Of what pkg/builder makes, a PodGroup wants them. What
// admission adds or looks up, such as priorities and the Workload that a PodGroup refers to, is not looked at.
package validation
