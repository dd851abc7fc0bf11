package patches

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
	kjson "sigs.k8s.io/json"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// checkFields complains of the fields in a strategic merge patch that came after Kubernetes 1.36, together with the
// others that are unknown: by warnings, or by an error, as the client would have it. If there are none of the former,
// it is silent, as it is about every other fault: the library finds them.
func (p *patch) checkFields(ctx context.Context, stored runtime.Object) error {
	if p.validation == metav1.FieldValidationIgnore || !scheme.MentionsNewerFields(p.body) {
		return nil
	}
	content := map[string]any{}
	complaints, err := kjson.UnmarshalStrict(p.body, &content)
	if err != nil {
		return nil //nolint:nilerr // The library says so itself.
	}
	patched, err := apply(stored, content)
	if err != nil {
		return nil //nolint:nilerr // The library says so itself.
	}
	asSent := fmt.Sprintf("%+v", content) // The patched object shares parts of it.
	newer := scheme.RemoveNewerFields(stored, patched)
	if len(newer) == 0 {
		return nil
	}
	var unknown []error
	target := reflect.New(reflect.TypeOf(stored).Elem()).Interface()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(patched, target, true); err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil
		}
		unknown = strict.Errors()
	}
	for _, path := range newer {
		unknown = append(unknown, fmt.Errorf("unknown field %q", path))
	}
	slices.SortFunc(unknown, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	complaints = append(complaints, unknown...)
	if p.validation == metav1.FieldValidationStrict {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), asSent, runtime.NewStrictDecodingError(complaints).Error()),
		})
	}
	// The library is going to repeat those that it knows of. A warning is sent once.
	for _, complaint := range complaints {
		warning.AddWarning(ctx, "", complaint.Error())
	}
	return nil
}

// kindOf returns an object of a resource's kind, nil if the kind has no newer fields.
func kindOf(resource schema.GroupResource) runtime.Object {
	switch resource {
	case corev1.Resource("pods"):
		return &corev1.Pod{}
	case corev1.Resource("nodes"):
		return &corev1.Node{}
	case schema.GroupResource{Group: batchv1.GroupName, Resource: "jobs"}:
		return &batchv1.Job{}
	}
	return nil
}

// withoutNewerFields returns a strategic merge patch of a resource without the fields that are newer than Kubernetes
// 1.36, nil if it has none: values that those fields cannot hold are no fault of an unknown field. Such a patch has the
// form of the object; that its lists have other indexes does not matter.
func withoutNewerFields(resource schema.GroupResource, body []byte) []byte {
	kind := kindOf(resource)
	if kind == nil || !scheme.MentionsNewerFields(body) {
		return nil
	}
	content := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &content); err != nil {
		return nil
	}
	if len(scheme.RemoveNewerFields(kind, content)) == 0 {
		return nil
	}
	lean, err := json.Marshal(content)
	if err != nil {
		return nil
	}
	return lean
}

// apply returns what an object becomes by a strategic merge patch, before it is read into a Go type again.
func apply(stored runtime.Object, content map[string]any) (map[string]any, error) {
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	if err != nil {
		return nil, fmt.Errorf("reading the object to patch: %w", err)
	}
	patched, err := strategicpatch.StrategicMergeMapPatch(current, content, stored)
	if err != nil {
		return nil, fmt.Errorf("applying the patch: %w", err)
	}
	return patched, nil
}
