package namespace

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// remains counts what is left in a namespace.
type remains struct {
	objects    map[schema.GroupVersionResource]int
	finalizers map[string]int
}

func (r *remains) add(resource schema.GroupVersionResource, finalizers []string) {
	if r.objects == nil {
		r.objects, r.finalizers = map[schema.GroupVersionResource]int{}, map[string]int{}
	}
	r.objects[resource]++
	for _, finalizer := range finalizers {
		r.finalizers[finalizer]++
	}
}

func (r *remains) any() bool { return len(r.objects) > 0 }

// conditions returns the conditions of a namespace that is being emptied. All are there from the first time on; one
// that is True is what the deletion waits for.
func conditions(left remains, deleteErr error) []corev1.NamespaceCondition {
	fine := func(kind corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
		return corev1.NamespaceCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	}
	content := fine(corev1.NamespaceDeletionContentFailure, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
	if deleteErr != nil {
		content.Status, content.Reason, content.Message = corev1.ConditionTrue, "ContentDeletionFailed", deleteErr.Error()
	}
	remaining := fine(corev1.NamespaceContentRemaining, "ContentRemoved", "All content successfully removed")
	if left.any() {
		var parts []string
		for resource, n := range left.objects {
			parts = append(parts, fmt.Sprintf("%s.%s has %d resource instances", resource.Resource, resource.Group, n))
		}
		slices.Sort(parts)
		remaining.Status, remaining.Reason = corev1.ConditionTrue, "SomeResourcesRemain"
		remaining.Message = "Some resources are remaining: " + strings.Join(parts, ", ")
	}
	finalizers := fine(corev1.NamespaceFinalizersRemaining, "ContentHasNoFinalizers", "All content-preserving finalizers finished")
	if len(left.finalizers) > 0 {
		var parts []string
		for finalizer, n := range left.finalizers {
			parts = append(parts, fmt.Sprintf("%s in %d resource instances", finalizer, n))
		}
		slices.Sort(parts)
		finalizers.Status, finalizers.Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
		finalizers.Message = "Some content in the namespace has finalizers remaining: " + strings.Join(parts, ", ")
	}
	return []corev1.NamespaceCondition{
		fine(corev1.NamespaceDeletionDiscoveryFailure, "ResourcesDiscovered", "All resources successfully discovered"),
		fine(corev1.NamespaceDeletionGVParsingFailure, "ParsedGroupVersions", "All legacy kube types successfully parsed"),
		content, remaining, finalizers,
	}
}

// setCondition puts a condition among others; one that says the same keeps its time.
func setCondition(all *[]corev1.NamespaceCondition, condition corev1.NamespaceCondition, now metav1.Time) {
	condition.LastTransitionTime = now
	for i, old := range *all {
		if old.Type != condition.Type {
			continue
		}
		if old.Status != condition.Status || old.Reason != condition.Reason || old.Message != condition.Message {
			(*all)[i] = condition
		}
		return
	}
	*all = append(*all, condition)
}
