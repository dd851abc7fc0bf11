package validation_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// FuzzValidateWorkload judges any Workload that JSON can spell: nothing panics, the same object gets the same answer,
// an object never is at fault with itself, and dropping what is disabled leaves nothing to forbid.
func FuzzValidateWorkload(f *testing.F) {
	for _, workload := range []*schedulingv1alpha2.Workload{{}, fullWorkload()} {
		text, err := json.Marshal(workload)
		require.NoError(f, err)
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, allOn bool) {
		workload := &schedulingv1alpha2.Workload{}
		if json.Unmarshal(text, workload) != nil {
			t.Skip("no Workload")
		}
		gates := generic
		if allOn {
			gates = features.Gates{}
		}
		before := workload.DeepCopy()
		faults := lines(validation.ValidateWorkload(workload, gates))
		require.Equal(t, faults, lines(validation.ValidateWorkload(workload, gates)))
		require.Empty(t, cmp.Diff(before, workload))

		validation.DropDisabledWorkloadFields(workload, nil, gates)
		for _, fault := range validation.ValidateWorkload(workload, gates) {
			assert.NotEqual(t, field.ErrorTypeForbidden, fault.Type, fault)
		}
		for _, fault := range validation.ValidateWorkloadUpdate(workload, workload, gates) {
			assert.Regexp(t, "^metadata", fault.Field)
			assert.NotEqual(t, "field is immutable", fault.Detail, fault)
		}
	})
}

// FuzzValidatePodGroup does the same for PodGroups and their status.
func FuzzValidatePodGroup(f *testing.F) {
	for _, group := range []*schedulingv1alpha2.PodGroup{{}, fullPodGroup()} {
		text, err := json.Marshal(group)
		require.NoError(f, err)
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, allOn bool) {
		group := &schedulingv1alpha2.PodGroup{}
		if json.Unmarshal(text, group) != nil {
			t.Skip("no PodGroup")
		}
		gates := generic
		if allOn {
			gates = features.Gates{}
		}
		before := group.DeepCopy()
		require.Equal(t, lines(validation.ValidatePodGroup(group, gates)), lines(validation.ValidatePodGroup(group, gates)))
		require.Equal(t,
			lines(validation.ValidatePodGroupStatusUpdate(group, &schedulingv1alpha2.PodGroup{}, gates)),
			lines(validation.ValidatePodGroupStatusUpdate(group, &schedulingv1alpha2.PodGroup{}, gates)))
		require.Empty(t, cmp.Diff(before, group))

		validation.DropDisabledPodGroupFields(group, nil, gates)
		for _, fault := range validation.ValidatePodGroup(group, gates) {
			assert.NotEqual(t, field.ErrorTypeForbidden, fault.Type, fault)
		}
		for _, fault := range validation.ValidatePodGroupUpdate(group, group, gates) {
			assert.Regexp(t, "^metadata", fault.Field)
			assert.NotEqual(t, "field is immutable", fault.Detail, fault)
		}
	})
}
