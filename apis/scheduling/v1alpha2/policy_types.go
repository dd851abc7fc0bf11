package v1alpha2

// MaxPodGroupResourceClaims is how many entries resourceClaims may have, of a PodGroup and of a PodGroupTemplate alike.
const MaxPodGroupResourceClaims = 4

// PodGroupSchedulingPolicy says how the pods of a group are placed. Exactly one member is set.
// +union
type PodGroupSchedulingPolicy struct {
	// basic places each pod as it comes, as if there were no group.
	//
	// +optional
	// +k8s:optional
	// +k8s:unionMember
	Basic *BasicSchedulingPolicy `json:"basic,omitempty" protobuf:"bytes,1,opt,name=basic"`

	// gang places a number of pods at once or none of them. The scheduler enforces it under the feature gate
	// GangScheduling (KEP-4671).
	//
	// +optional
	// +k8s:optional
	// +k8s:unionMember
	Gang *GangSchedulingPolicy `json:"gang,omitempty" protobuf:"bytes,2,opt,name=gang"`
}

// BasicSchedulingPolicy has no fields in 1.36: that it is there is all it says.
type BasicSchedulingPolicy struct{}

// GangSchedulingPolicy holds the numbers of a gang.
type GangSchedulingPolicy struct {
	// minCount is the number of pods that must run or be placeable at the same moment before any of them is bound to a
	// node. At least 1; pods beyond it are placed as room allows.
	//
	// +required
	// +k8s:required
	// +k8s:minimum=1
	MinCount int32 `json:"minCount" protobuf:"varint,1,opt,name=minCount"`
}

// PodGroupSchedulingConstraints narrows where the pods of a group may be placed together (KEP-5732).
type PodGroupSchedulingConstraints struct {
	// topology asks that the pods share a topology domain. 1.36 takes one entry at most.
	//
	// +optional
	// +k8s:optional
	// +k8s:maxItems=1
	// +listType=atomic
	// +k8s:listType=atomic
	Topology []TopologyConstraint `json:"topology,omitempty" protobuf:"bytes,1,rep,name=topology"`
}

// TopologyConstraint asks that every pod of a group runs on nodes with one and the same value of a label. Groups choose
// independently of one another, those of one template too.
type TopologyConstraint struct {
	// key is the key of the node label whose values are the domains, such as "topology.kubernetes.io/rack".
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-label-key
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
}

// PodGroupResourceClaim is a claim that the pods of a group may share, under a name within the group (KEP-5729). Exactly
// one of resourceClaimName and resourceClaimTemplateName is set.
type PodGroupResourceClaim struct {
	// name tells this claim from the others of the group; pods repeat it in spec.resourceClaims. A DNS label.
	//
	// +required
	// +k8s:required
	// +k8s:format=k8s-short-name
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// resourceClaimName is the metadata.name of a ResourceClaim in the namespace of the PodGroup. It is reserved for the
	// group as a whole, not for each pod.
	//
	// +optional
	// +k8s:optional
	// +k8s:unionMember
	// +k8s:format=k8s-long-name
	ResourceClaimName *string `json:"resourceClaimName,omitempty" protobuf:"bytes,2,opt,name=resourceClaimName"`

	// resourceClaimTemplateName is the metadata.name of a ResourceClaimTemplate in the namespace of the PodGroup. One
	// ResourceClaim is made from it for the group, under a generated name that status.resourceClaimStatuses tells, and
	// goes when the PodGroup goes. Later changes of the template do not reach it.
	//
	// +optional
	// +k8s:optional
	// +k8s:unionMember
	// +k8s:format=k8s-long-name
	ResourceClaimTemplateName *string `json:"resourceClaimTemplateName,omitempty" protobuf:"bytes,3,opt,name=resourceClaimTemplateName"`
}

// DisruptionMode says what may be evicted or preempted at a time: a pod, or the whole group.
// +enum
// +k8s:enum
type DisruptionMode string

const (
	// DisruptionModePod lets pods of the group be evicted and preempted one by one.
	DisruptionModePod DisruptionMode = "Pod"
	// DisruptionModePodGroup lets the group be evicted and preempted only as a whole.
	DisruptionModePodGroup DisruptionMode = "PodGroup"
)
