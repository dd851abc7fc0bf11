package plain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// number returns a column of integers that is always printed.
func number(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "integer", Description: description}
}

// containerColumns are the wide columns of kinds with a pod template.
func containerColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		resource.WideColumn("Containers", "Names of each container in the template."),
		resource.WideColumn("Images", "Images referenced by each container in the template."),
	}
}

// columns joins the column of names, others and wide ones.
func columns(all ...[]metav1.TableColumnDefinition) []metav1.TableColumnDefinition {
	joined := []metav1.TableColumnDefinition{resource.NameColumn()}
	for _, some := range all {
		joined = append(joined, some...)
	}
	return joined
}

// age says how old an object is.
func age(now clock.PassiveClock, of *metav1.ObjectMeta) string {
	return resource.Since(now, of.CreationTimestamp.Time)
}

// containerCells are the cells of containerColumns.
func containerCells(template *corev1.PodTemplateSpec) []any {
	names, images := resource.Containers(template.Spec.Containers)
	return []any{names, images}
}

// valueOr returns what a pointer points to as text, or a text for nil.
func valueOr[V any](value *V, absent string) string {
	if value == nil {
		return absent
	}
	return fmt.Sprint(*value)
}

// few joins the first texts of a list, and says how many more there are.
func few(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, ",")
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
}
