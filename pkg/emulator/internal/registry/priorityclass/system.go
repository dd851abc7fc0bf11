package priorityclass

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// systemPrefix is reserved for the names of the system's own classes.
	systemPrefix = "system-"
	// highestUserPriority is the highest value that a class of a user may have.
	highestUserPriority = 1000000000
	// systemPriority is where the values of the system's classes start.
	systemPriority = 2 * highestUserPriority
)

// SystemClasses returns the classes that every cluster has and that cannot be deleted.
func SystemClasses() []*schedulingv1.PriorityClass {
	return []*schedulingv1.PriorityClass{
		systemClass("system-node-critical", systemPriority+1000,
			"Used for system critical pods that must not be moved from their current node."),
		systemClass("system-cluster-critical", systemPriority,
			"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

func systemClass(name string, value int32, description string) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{
		ObjectMeta:       metav1.ObjectMeta{Name: name},
		Value:            value,
		Description:      description,
		PreemptionPolicy: new(corev1.PreemptLowerPriority),
	}
}

// isSystemClass tells whether name is that of a class of the system.
func isSystemClass(name string) bool {
	return slices.ContainsFunc(SystemClasses(), func(c *schedulingv1.PriorityClass) bool { return c.Name == name })
}

// checkSystemClass returns an error unless class, whose name has the system's prefix, is one of the system's classes.
func checkSystemClass(class *schedulingv1.PriorityClass) error {
	for _, known := range SystemClasses() {
		switch {
		case known.Name != class.Name:
		case known.Value != class.Value:
			return fmt.Errorf("value of %v PriorityClass must be %v", known.Name, known.Value)
		case known.GlobalDefault != class.GlobalDefault:
			return fmt.Errorf("globalDefault of %v PriorityClass must be %v", known.Name, known.GlobalDefault)
		default:
			return nil
		}
	}
	return fmt.Errorf("%v is not a known system priority class", class.Name)
}
