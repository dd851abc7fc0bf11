package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The condition types that Kubernetes 1.36 knows on a PodGroup.
const (
	// PodGroupScheduled is set by the scheduler: True, reason "Scheduled", once as many pods are placed as the policy
	// asks for; False with one of the reasons below while they are not. Once True it stays True.
	PodGroupScheduled string = "PodGroupScheduled"
	// DisruptionTarget says that the PodGroup is about to be ended to make room, for instance by preemption.
	DisruptionTarget string = "DisruptionTarget"
)

// The condition reasons that Kubernetes 1.36 knows on a PodGroup.
const (
	// PodGroupReasonUnschedulable is the reason of PodGroupScheduled=False when the pods do not fit: too few resources,
	// affinity or constraints that no node meets, or fewer places than the gang needs.
	PodGroupReasonUnschedulable string = "Unschedulable"
	// PodGroupReasonSchedulerError is the reason of PodGroupScheduled=False when the scheduler itself failed, for
	// instance on a node affinity that it cannot parse.
	PodGroupReasonSchedulerError string = "SchedulerError"
	// PodGroupReasonPreemptionByScheduler is the reason of DisruptionTarget=True when the scheduler takes the PodGroup's
	// place for pods of a higher priority.
	PodGroupReasonPreemptionByScheduler string = "PreemptionByScheduler"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:supportsSubresource="/status"

// PodGroup is a set of pods that are scheduled together at run time. The controller that runs the work makes it from a
// template of a Workload, before the pods; a pod joins by naming it in spec.schedulingGroup.podGroupName. The API server
// adds the finalizer scheduling.k8s.io/podgroup-protection, so that a PodGroup outlives every pod that still runs in it.
// The API is served under the feature gate GenericWorkload (KEP-4671).
type PodGroup struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the metadata that every object has. The name must be a DNS subdomain.
	//
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the maker of the PodGroup asks of the scheduler.
	//
	// +required
	Spec PodGroupSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the scheduler and the resource claim controller report. It is written through the status
	// subresource only.
	//
	// +optional
	Status PodGroupStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PodGroupList is the answer to a list of PodGroups.
type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata holds the resource version of the list and, where more is to come, the token that continues it.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the PodGroups, sorted by namespace and name when an API server answers.
	Items []PodGroup `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// PodGroupSpec is the part of a PodGroup that its maker writes, as a rule by copying a [PodGroupTemplate]. Every field
// is immutable.
type PodGroupSpec struct {
	// podGroupTemplateRef names the template that the PodGroup was made from. When set, the Workload and the template in
	// it must exist at creation, and the Workload must not be on its way out. Unset, which is encoded as null, is a
	// PodGroup that stands alone. Immutable.
	//
	// +optional
	// +k8s:optional
	// +k8s:immutable
	PodGroupTemplateRef *PodGroupTemplateReference `json:"podGroupTemplateRef" protobuf:"bytes,1,opt,name=podGroupTemplateRef"`

	// schedulingPolicy says whether the pods are placed one by one or all together. Immutable, minCount included.
	//
	// +required
	// +k8s:immutable
	SchedulingPolicy PodGroupSchedulingPolicy `json:"schedulingPolicy" protobuf:"bytes,2,opt,name=schedulingPolicy"`

	// schedulingConstraints narrows the places where the pods may be put together. It is there only under the feature
	// gate TopologyAwareWorkloadScheduling (KEP-5732). Immutable.
	//
	// +featureGate=TopologyAwareWorkloadScheduling
	// +optional
	// +k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden
	// +k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional
	// +k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:immutable
	SchedulingConstraints *PodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty" protobuf:"bytes,3,opt,name=schedulingConstraints"`

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

	// disruptionMode says whether a pod of the group may be evicted or preempted alone ("Pod", which unset becomes on
	// every read) or only the whole group with it ("PodGroup"). It is stored only under the feature gate
	// WorkloadAwarePreemption (KEP-5710). Immutable.
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable
	// +default="Pod"
	DisruptionMode *DisruptionMode `json:"disruptionMode,omitempty" protobuf:"bytes,5,opt,name=disruptionMode,casttype=DisruptionMode"`

	// priorityClassName is the name of the PriorityClass whose value the API server writes to priority at creation.
	// Empty takes the class that is the global default, if there is one. It is there only under the feature gate
	// WorkloadAwarePreemption (KEP-5710). Immutable.
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:format=k8s-long-name
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable
	PriorityClassName string `json:"priorityClassName,omitempty" protobuf:"bytes,6,opt,name=priorityClassName"`

	// priority is the priority of the whole group, from -2147483648 to 1000000000; a higher number goes first and may
	// preempt lower ones. The admission of the API server fills it in from priorityClassName and refuses a number that
	// differs; without any class it is 0. It is there only under the feature gate WorkloadAwarePreemption (KEP-5710).
	// Immutable.
	//
	// +featureGate=WorkloadAwarePreemption
	// +optional
	// +k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:maximum=1000000000 # HighestUserDefinablePriority
	// +k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:minimum=-2147483648
	Priority *int32 `json:"priority,omitempty" protobuf:"varint,7,opt,name=priority"`
}

// PodGroupStatus is what controllers report about a PodGroup.
type PodGroupStatus struct {
	// conditions tell what became of the group, one entry a type. Kubernetes 1.36 knows the types "PodGroupScheduled"
	// (reasons "Scheduled", "Unschedulable" and "SchedulerError") and "DisruptionTarget" (reason
	// "PreemptionByScheduler"). The scheduler sets the metadata.generation it looked at as observedGeneration.
	//
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,1,rep,name=conditions"`

	// resourceClaimStatuses names the ResourceClaims that were made for those entries of spec.resourceClaims that name a
	// template, at most 4. The resource claim controller writes it. It is there only under the feature gate
	// DRAWorkloadResourceClaims (KEP-5729).
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
	// +featureGate=DRAWorkloadResourceClaims
	ResourceClaimStatuses []PodGroupResourceClaimStatus `json:"resourceClaimStatuses,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,2,rep,name=resourceClaimStatuses"`
}

// PodGroupResourceClaimStatus says which ResourceClaim was made for one entry of a PodGroup's spec.resourceClaims.
type PodGroupResourceClaimStatus struct {
	// name is the name of the entry in spec.resourceClaims, a DNS label.
	//
	// +required
	Name string `json:"name" protobuf:"bytes,1,name=name"`

	// resourceClaimName is the metadata.name of the ResourceClaim, in the namespace of the PodGroup. Unset means that
	// none had to be made.
	//
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	ResourceClaimName *string `json:"resourceClaimName,omitempty" protobuf:"bytes,2,opt,name=resourceClaimName"`
}

// PodGroupTemplateReference says where the template of a PodGroup is. Exactly one member is set; 1.36 has one only.
// +union
type PodGroupTemplateReference struct {
	// workload points at a template of a Workload. Unset is encoded as null.
	//
	// +optional
	// +k8s:optional
	// +k8s:unionMember
	Workload *WorkloadPodGroupTemplateReference `json:"workload" protobuf:"bytes,1,opt,name=workload"`
}

// WorkloadPodGroupTemplateReference names a template of a Workload in the same namespace.
type WorkloadPodGroupTemplateReference struct {
	// workloadName is the metadata.name of the Workload, a DNS subdomain.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-long-name
	WorkloadName string `json:"workloadName" protobuf:"bytes,1,opt,name=workloadName"`

	// podGroupTemplateName is the name of an entry in the Workload's spec.podGroupTemplates, a DNS label.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-short-name
	PodGroupTemplateName string `json:"podGroupTemplateName" protobuf:"bytes,2,opt,name=podGroupTemplateName"`
}
