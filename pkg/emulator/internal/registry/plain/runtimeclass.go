package plain

import (
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/internal/metadata"
)

func runtimeClasses() row {
	return &kind[nodev1.RuntimeClass]{
		version: nodev1.SchemeGroupVersion, plural: "runtimeclasses", singular: "runtimeclass", list: &nodev1.RuntimeClassList{},
		clusterScoped: true, createOnUpdate: true, conditional: true,
		validateCreate: func(c *nodev1.RuntimeClass) field.ErrorList {
			var errs field.ErrorList
			if path := field.NewPath("handler"); c.Handler == "" {
				errs = append(errs, field.Required(path, ""))
			} else {
				errs = append(errs, dnsLabel(c.Handler, path)...)
			}
			if c.Overhead != nil {
				errs = append(errs, nonNegativeQuantities(c.Overhead.PodFixed, field.NewPath("overhead", "podFixed"))...)
			}
			if c.Scheduling != nil {
				errs = append(errs, metadata.ValidateLabels(c.Scheduling.NodeSelector, field.NewPath("scheduling", "nodeSelector"))...)
			}
			return errs
		},
		validateUpdate: func(changed, stored *nodev1.RuntimeClass) field.ErrorList {
			return immutable(changed.Handler, stored.Handler, field.NewPath("handler"))
		},
		columns: columns([]metav1.TableColumnDefinition{resource.Column("Handler", metav1.ObjectMeta{}.SwaggerDoc()["handler"]), resource.AgeColumn()}),
		cells: func(now clock.PassiveClock, c *nodev1.RuntimeClass) []any {
			return []any{c.Name, c.Handler, age(now, &c.ObjectMeta)}
		},
	}
}
