package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// What returns an error says so when there is nothing to look at; it does not panic.
func TestWithoutAnObject(t *testing.T) {
	t.Parallel()
	pod, meta, path := &corev1.Pod{}, &metav1.ObjectMeta{}, field.NewPath("at")
	for name, errs := range map[string]field.ErrorList{
		"a pod":                    core.ValidatePod(nil, core.Options{}),
		"an update to no pod":      core.ValidatePodUpdate(nil, pod, core.Options{}),
		"an update of no pod":      core.ValidatePodUpdate(pod, nil, core.Options{}),
		"the status of no pod":     core.ValidatePodStatusUpdate(nil, pod, core.Options{}),
		"a status after no pod":    core.ValidatePodStatusUpdate(pod, nil, core.Options{}),
		"a template":               core.ValidatePodTemplate(nil, path, core.Options{}),
		"an update to no template": core.ValidatePodTemplateUpdate(nil, &corev1.PodTemplateSpec{}, path, core.Options{}),
		"a binding":                core.ValidateBinding(nil),
		"metadata":                 core.ValidateObjectMeta(nil, true, nil, path),
		"an update to no metadata": core.ValidateObjectMetaUpdate(nil, meta, path),
		"an update of no metadata": core.ValidateObjectMetaUpdate(meta, nil, path),
	} {
		if assert.Len(t, errs, 1, name) {
			assert.Equal(t, field.ErrorTypeRequired, errs[0].Type, name)
		}
	}
	require.Error(t, core.Bind(nil, &corev1.Binding{}, time.Time{}))
	require.Error(t, core.Bind(pod, nil, time.Time{}))
}
