package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadMaxPodGroupTemplates is how many entries spec.podGroupTemplates of a Workload may have.
const WorkloadMaxPodGroupTemplates = 8

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Workload tells the scheduler how the pods of one piece of work belong together. It is written once, by a user or by
// the controller that runs the work (the Job controller does so under the gate WorkloadWithJob, KEP-5547), and its spec
// never changes. It has no status: what happens is reported on the PodGroups made from its templates.
// The API is served under the feature gate GenericWorkload (KEP-4671).
type Workload struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the metadata that every object has. The name must be a DNS subdomain.
	//
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the author of the Workload asks of the scheduler.
	//
	// +required
	Spec WorkloadSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkloadList is the answer to a list of Workloads.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata holds the resource version of the list and, where more is to come, the token that continues it.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the Workloads, sorted by namespace and name when an API server answers.
	Items []Workload `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// WorkloadSpec is the part of a Workload that its author writes. Both fields are immutable.
type WorkloadSpec struct {
	// controllerRef names the object that the Workload was written for, such as a Job of the same namespace. It lets
	// people and tools find their way back; the API server neither resolves it nor derives ownership from it. The Job
	// controller looks for the Workload of a Job by this field. Immutable, also from unset to set.
	//
	// +optional
	// +k8s:optional
	// +k8s:immutable
	ControllerRef *TypedLocalObjectReference `json:"controllerRef,omitempty" protobuf:"bytes,1,opt,name=controllerRef"`

	// podGroupTemplates describes the sets of pods of this Workload, between 1 and 8, each under a name of its own.
	// Immutable.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +k8s:required
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:maxItems=8
	// +k8s:immutable
	PodGroupTemplates []PodGroupTemplate `json:"podGroupTemplates" protobuf:"bytes,2,rep,name=podGroupTemplates"`
}

// TypedLocalObjectReference names an object of any kind in the namespace of the referrer, without a version.
type TypedLocalObjectReference struct {
	// apiGroup is the API group of the object, a DNS subdomain such as "batch". Empty means the core group.
	//
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	APIGroup string `json:"apiGroup,omitempty" protobuf:"bytes,1,opt,name=apiGroup"`

	// kind is the kind of the object, such as "Job". Anything that can stand as one segment of a URL path is taken.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-path-segment-name
	Kind string `json:"kind" protobuf:"bytes,2,opt,name=kind"`

	// name is the object's metadata.name. Anything that can stand as one segment of a URL path is taken.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-path-segment-name
	Name string `json:"name" protobuf:"bytes,3,opt,name=name"`
}

// PodGroupTemplate describes one set of pods of a Workload. Whoever runs the work makes PodGroups from it and copies
// the fields over; the API server checks that the template exists, not that the copy agrees with it.
type PodGroupTemplate struct {
	// name tells this template from the others of the Workload, and is what a PodGroup's spec.podGroupTemplateRef
	// refers to. A DNS label, so 63 bytes at most.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-short-name
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// schedulingPolicy says whether the pods are placed one by one or all together.
	//
	// +required
	SchedulingPolicy PodGroupSchedulingPolicy `json:"schedulingPolicy" protobuf:"bytes,2,opt,name=schedulingPolicy"`

	// schedulingConstraints narrows the places where the pods may be put together. It is there only under the feature
	// gate TopologyAwareWorkloadScheduling (KEP-5732); unset is encoded as null.
	//
	// +featureGate=TopologyAwareWorkloadScheduling
	// +optional
	// +k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden
	// +k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional
	SchedulingConstraints *PodGroupSchedulingConstraints `json:"schedulingConstraints" protobuf:"bytes,3,opt,name=schedulingConstraints"`

	// resourceClaims are the claims that pods of the group may share, at most 4. A pod takes part in one by having an
	// entry in its own spec.resourceClaims that equals the entry here: same name, same claim or same claim template.
	// It is there only under the feature gate DRAWorkloadResourceClaims (KEP-5729). Immutable.
	//
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge,retainKeys
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:maxItems=4
	// +k8s:immutable
	// +featureGate=DRAWorkloadResourceClaims
	ResourceClaims []PodGroupResourceClaim `json:"resourceClaims,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,4,rep,name=resourceClaims"`

	// disruptionMode is the disruptionMode that PodGroups of this template are to have: "Pod" or "PodGroup". Unlike
	// there, unset stays unset. It is there only under the feature gate WorkloadAwarePreemption (KEP-5710).
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	DisruptionMode *DisruptionMode `json:"disruptionMode,omitempty" protobuf:"bytes,5,opt,name=disruptionMode,casttype=DisruptionMode"`

	// priorityClassName is the name of the PriorityClass that PodGroups of this template are to have. The API server
	// does not resolve it here, only on the PodGroup. It is there only under the feature gate WorkloadAwarePreemption
	// (KEP-5710).
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:format=k8s-long-name
	PriorityClassName string `json:"priorityClassName,omitempty" protobuf:"bytes,6,opt,name=priorityClassName"`

	// priority is the priority that PodGroups of this template are to have, from -2147483648 to 1000000000; a higher
	// number goes first. It is there only under the feature gate WorkloadAwarePreemption (KEP-5710).
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:maximum=1000000000 # HighestUserDefinablePriority
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:minimum=-2147483648
	Priority *int32 `json:"priority,omitempty" protobuf:"varint,7,opt,name=priority"`
}
