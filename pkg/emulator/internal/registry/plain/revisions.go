package plain

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func controllerRevisions() row {
	return &kind[appsv1.ControllerRevision]{
		version: appsv1.SchemeGroupVersion, plural: "controllerrevisions", singular: "controllerrevision", list: &appsv1.ControllerRevisionList{},
		validate: func(r *appsv1.ControllerRevision) field.ErrorList {
			return nonNegative(r.Revision, field.NewPath("revision"))
		},
		validateCreate: validateRevisionData,
		validateUpdate: func(changed, stored *appsv1.ControllerRevision) field.ErrorList {
			return immutable(changed.Data, stored.Data, field.NewPath("data"))
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Controller", "Controller of the object"),
			resource.Column("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, r *appsv1.ControllerRevision) []any {
			return []any{r.Name, controllerOf(r), r.Revision, age(now, &r.ObjectMeta)}
		},
	}
}

// validateRevisionData wants an object of JSON.
func validateRevisionData(r *appsv1.ControllerRevision) field.ErrorList {
	path := field.NewPath("data")
	if r.Data.Raw == nil {
		return field.ErrorList{field.Required(path, "data is mandatory")}
	}
	var data any
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
		return field.ErrorList{field.Invalid(path, "<value omitted>", fmt.Sprintf("error parsing data: %v", err))}
	}
	if data == nil {
		return field.ErrorList{field.Required(path, "data is mandatory")}
	}
	if _, isObject := data.(map[string]any); !isObject {
		return field.ErrorList{field.Required(path, "data must be a valid JSON object")}
	}
	return nil
}

// controllerOf names the controller of an object as kubectl does: kind.group/name.
func controllerOf(object metav1.Object) string {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return "<none>"
	}
	kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
	return strings.ToLower(kind.String()) + "/" + owner.Name
}

func podTemplates(opts core.Options) row {
	return &kind[corev1.PodTemplate]{
		version: corev1.SchemeGroupVersion, plural: "podtemplates", singular: "podtemplate", list: &corev1.PodTemplateList{},
		returnDeleted: true,
		wants:         func(changed, stored *corev1.PodTemplate) bool { return !same(changed.Template, stored.Template) },
		template:      func(t *corev1.PodTemplate) *corev1.PodTemplateSpec { return &t.Template },
		validate: func(t *corev1.PodTemplate) field.ErrorList {
			return core.ValidatePodTemplate(&t.Template, field.NewPath("template"), opts)
		},
		warnings: func(changed, stored *corev1.PodTemplate) []string {
			if stored != nil && changed.Generation == stored.Generation {
				return nil
			}
			return core.TemplateWarnings(&changed.Template, field.NewPath("template"))
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Containers", "Names of each container in the template."),
			resource.Column("Images", "Images referenced by each container in the template."),
			resource.Column("Pod Labels", "The labels for the pod template."),
		}),
		cells: func(_ clock.PassiveClock, t *corev1.PodTemplate) []any {
			return append(append([]any{t.Name}, containerCells(&t.Template)...), labels.FormatLabels(t.Template.Labels))
		},
	}
}
