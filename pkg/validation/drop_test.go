package validation_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// withoutGate lists what each gate takes along when it is off.
var withoutGate = map[features.Gate]func(*schedulingv1alpha2.PodGroupSpec){
	features.TopologyAwareWorkloadScheduling: func(spec *schedulingv1alpha2.PodGroupSpec) { spec.SchedulingConstraints = nil },
	features.DRAWorkloadResourceClaims:       func(spec *schedulingv1alpha2.PodGroupSpec) { spec.ResourceClaims = nil },
	features.WorkloadAwarePreemption: func(spec *schedulingv1alpha2.PodGroupSpec) {
		spec.DisruptionMode, spec.PriorityClassName, spec.Priority = nil, "", nil
	},
	features.GangScheduling: func(*schedulingv1alpha2.PodGroupSpec) {},
}

func TestDropDisabledPodGroupFields(t *testing.T) {
	for gate, drop := range withoutGate {
		t.Run(string(gate), func(t *testing.T) {
			want := fullPodGroup()
			drop(&want.Spec)

			created := fullPodGroup()
			validation.DropDisabledPodGroupFields(created, nil, features.Gates{}.With(gate, false))
			assert.Empty(t, cmp.Diff(want, created), "(-want +got)")

			added := fullPodGroup()
			validation.DropDisabledPodGroupFields(added, want, features.Gates{}.With(gate, false))
			assert.Empty(t, cmp.Diff(want, added), "what the stored one does not use goes (-want +got)")

			kept := fullPodGroup()
			validation.DropDisabledPodGroupFields(kept, fullPodGroup(), features.Gates{}.With(gate, false))
			assert.Empty(t, cmp.Diff(fullPodGroup(), kept), "what the stored one uses stays (-want +got)")
		})
	}
	all := fullPodGroup()
	validation.DropDisabledPodGroupFields(all, nil, features.Gates{})
	assert.Empty(t, cmp.Diff(fullPodGroup(), all))
}

func TestDropDisabledPodGroupFieldsKeepsEachFieldByItself(t *testing.T) {
	old, group := fullPodGroup(), fullPodGroup()
	old.Spec.Priority, old.Spec.PriorityClassName = nil, ""
	validation.DropDisabledPodGroupFields(group, old, generic)
	assert.NotNil(t, group.Spec.DisruptionMode)
	assert.Empty(t, group.Spec.PriorityClassName)
	assert.Nil(t, group.Spec.Priority)
}

func TestDropDisabledWorkloadFields(t *testing.T) {
	bare := schedulingv1alpha2.PodGroupTemplate{Name: "workers", SchedulingPolicy: fullWorkload().Spec.PodGroupTemplates[1].SchedulingPolicy}

	created := fullWorkload()
	validation.DropDisabledWorkloadFields(created, nil, generic)
	assert.Empty(t, cmp.Diff(bare, created.Spec.PodGroupTemplates[1]), "(-want +got)")

	kept := fullWorkload()
	validation.DropDisabledWorkloadFields(kept, fullWorkload(), generic)
	assert.Empty(t, cmp.Diff(fullWorkload(), kept), "(-want +got)")

	// Templates are compared by their place in the list, not by name, and new ones have nothing to be compared with.
	moved := fullWorkload()
	first, second := moved.Spec.PodGroupTemplates[0], moved.Spec.PodGroupTemplates[1]
	moved.Spec.PodGroupTemplates = []schedulingv1alpha2.PodGroupTemplate{*second.DeepCopy(), first, second}
	validation.DropDisabledWorkloadFields(moved, fullWorkload(), generic)
	assert.Empty(t, cmp.Diff(bare, moved.Spec.PodGroupTemplates[0]), "(-want +got)")
	assert.Empty(t, cmp.Diff(bare, moved.Spec.PodGroupTemplates[2]), "(-want +got)")

	all := fullWorkload()
	validation.DropDisabledWorkloadFields(all, nil, features.Gates{})
	assert.Empty(t, cmp.Diff(fullWorkload(), all))
}

func TestDropDisabledPodGroupStatusFields(t *testing.T) {
	unused := fullPodGroup()
	unused.Spec.ResourceClaims = nil
	cases := map[string]struct {
		old   *schedulingv1alpha2.PodGroup
		gates features.Gates
		want  int
	}{
		"the gate is on":                         {unused, features.Gates{}, 1},
		"the gate is off and the spec has none":  {unused, generic, 0},
		"the gate is off and the spec has some":  {fullPodGroup(), generic, 1},
		"the gate is off and there is no object": {nil, generic, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group := fullPodGroup()
			validation.DropDisabledPodGroupStatusFields(group, tc.old, tc.gates)
			assert.Len(t, group.Status.ResourceClaimStatuses, tc.want)
			assert.Len(t, group.Status.Conditions, 1)
		})
	}
}

func ExampleDropDisabledWorkloadFields() {
	workload := fullWorkload()
	gates := features.Gates{}.With(features.WorkloadAwarePreemption, false)
	validation.DropDisabledWorkloadFields(workload, nil, gates)
	workers := workload.Spec.PodGroupTemplates[1]
	fmt.Println(workers.Priority == nil, workers.SchedulingConstraints.Topology[0].Key)
	// Output: true topology.kubernetes.io/rack
}
