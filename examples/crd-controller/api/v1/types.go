package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a TrainingRun. Complete and Failed are final: one of them comes once, and stays.
const (
	ConditionScheduled = "Scheduled" // the scheduler has placed the driver and the workers
	ConditionComplete  = "Complete"  // every member has succeeded
	ConditionFailed    = "Failed"    // members have failed more often than spec.backoffLimit
)

// DefaultBackoffLimit is what spec.backoffLimit is if nobody says otherwise.
const DefaultBackoffLimit = 3

// TrainingRun is a driver and workers that start together, each of which runs until it has succeeded once.
type TrainingRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TrainingRunSpec   `json:"spec"`
	Status TrainingRunStatus `json:"status,omitempty"`
}

// TrainingRunSpec cannot be changed: nor can the size of a gang that is placed.
type TrainingRunSpec struct {
	Driver  Driver  `json:"driver"`
	Workers Workers `json:"workers"`
	// BackoffLimit is how many failures of members, in all, are answered by another attempt. Default: 3.
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
}

// Driver is the one member that the workers report to.
type Driver struct {
	Template corev1.PodTemplateSpec `json:"template"`
}

// Workers are members that are alike.
type Workers struct {
	// Replicas is how many there are, 1 at least. They are a gang: all are placed at once or none is.
	Replicas int32                  `json:"replicas"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// TrainingRunStatus is history: pods come and go, but what is written here has happened.
type TrainingRunStatus struct {
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Members has those that have succeeded or failed, by name: "driver", "worker-0" and so on.
	Members    []MemberStatus     `json:"members,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MemberStatus is what has become of a member.
type MemberStatus struct {
	Name string `json:"name"`
	// Failures counts its attempts that failed. The next one, if there is any, has this number.
	Failures int32 `json:"failures,omitempty"`
	// Succeeded says that an attempt has succeeded. There is no other after it.
	Succeeded bool `json:"succeeded,omitempty"`
}

// TrainingRunList is a list of TrainingRuns.
type TrainingRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TrainingRun `json:"items"`
}
