package priorityclass

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy keeps users out of the system's names and values, and the value and policy of a class as they are.
type strategy struct{ resource.Strategy }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*schedulingv1.PriorityClass).Generation = 1
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	class := obj.(*schedulingv1.PriorityClass)
	errs := core.ValidateObjectMeta(&class.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if strings.HasPrefix(class.Name, systemPrefix) {
		if err := checkSystemClass(class); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+err.Error()))
		}
	} else if class.Value > highestUserPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %v", int32(highestUserPriority))))
	}
	return append(errs, validatePolicy(class.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}

func validatePolicy(policy *corev1.PreemptionPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	switch *policy {
	case corev1.PreemptLowerPriority, corev1.PreemptNever:
		return nil
	case "":
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, *policy, []string{string(corev1.PreemptLowerPriority), string(corev1.PreemptNever)})}
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*schedulingv1.PriorityClass), old.(*schedulingv1.PriorityClass)
	errs := core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	if changed.Value != stored.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(changed.PreemptionPolicy, stored.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}
