package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of this API, and Kind that of a TrainingRun.
var (
	GroupVersion = schema.GroupVersion{Group: "training.example.com", Version: "v1"}
	Kind         = GroupVersion.WithKind("TrainingRun")
)

// AddToScheme makes a scheme know the kinds of this API.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TrainingRun{}, &TrainingRunList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
