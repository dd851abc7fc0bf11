package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

func TestWithoutAnObject(t *testing.T) {
	t.Parallel()
	gates := features.Gates{}
	workload, group := &schedulingv1alpha2.Workload{}, &schedulingv1alpha2.PodGroup{}
	for name, errs := range map[string]field.ErrorList{
		"a workload":               validation.ValidateWorkload(nil, gates),
		"an update to no workload": validation.ValidateWorkloadUpdate(nil, workload, gates),
		"an update of no workload": validation.ValidateWorkloadUpdate(workload, nil, gates),
		"a group":                  validation.ValidatePodGroup(nil, gates),
		"an update to no group":    validation.ValidatePodGroupUpdate(nil, group, gates),
		"an update of no group":    validation.ValidatePodGroupUpdate(group, nil, gates),
		"the status of no group":   validation.ValidatePodGroupStatusUpdate(nil, group, gates),
		"a status after no group":  validation.ValidatePodGroupStatusUpdate(group, nil, gates),
	} {
		if assert.Len(t, errs, 1, name) {
			assert.Equal(t, field.ErrorTypeRequired, errs[0].Type, name)
		}
	}
}
