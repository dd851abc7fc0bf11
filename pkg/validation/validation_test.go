package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// generic is a cluster that serves the API and nothing more.
var generic = features.KubernetesDefaults().With(features.GenericWorkload, true)

// fullWorkload returns a valid Workload with everything set.
func fullWorkload() *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", UID: "uid-1", ResourceVersion: "7"},
		Spec: schedulingv1alpha2.WorkloadSpec{
			ControllerRef: &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "j"},
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{
				{
					Name:             "driver",
					SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}},
				},
				{
					Name:             "workers",
					SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4}},
					SchedulingConstraints: &schedulingv1alpha2.PodGroupSchedulingConstraints{
						Topology: []schedulingv1alpha2.TopologyConstraint{{Key: "topology.kubernetes.io/rack"}},
					},
					ResourceClaims:    []schedulingv1alpha2.PodGroupResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}},
					DisruptionMode:    new(schedulingv1alpha2.DisruptionModePodGroup),
					PriorityClassName: "high",
					Priority:          new(int32(7)),
				},
			},
		},
	}
}

// fullPodGroup returns a valid PodGroup with everything set.
func fullPodGroup() *schedulingv1alpha2.PodGroup {
	template := fullWorkload().Spec.PodGroupTemplates[1]
	return &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "uid-2", ResourceVersion: "8"},
		Spec: schedulingv1alpha2.PodGroupSpec{
			PodGroupTemplateRef: &schedulingv1alpha2.PodGroupTemplateReference{
				Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: "w", PodGroupTemplateName: "workers"},
			},
			SchedulingPolicy:      template.SchedulingPolicy,
			SchedulingConstraints: template.SchedulingConstraints,
			ResourceClaims:        template.ResourceClaims,
			DisruptionMode:        template.DisruptionMode,
			PriorityClassName:     template.PriorityClassName,
			Priority:              template.Priority,
		},
		Status: schedulingv1alpha2.PodGroupStatus{
			Conditions:            []metav1.Condition{scheduled()},
			ResourceClaimStatuses: []schedulingv1alpha2.PodGroupResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("p-gpu-x1")}},
		},
	}
}

func scheduled() metav1.Condition {
	return metav1.Condition{
		Type: schedulingv1alpha2.PodGroupScheduled, Status: metav1.ConditionTrue, Reason: "Scheduled",
		LastTransitionTime: metav1.Unix(1767225600, 0),
	}
}

// lines returns each fault as text.
func lines(faults field.ErrorList) []string {
	var texts []string
	for _, fault := range faults {
		texts = append(texts, fault.Error())
	}
	return texts
}

func TestValidateWorkload(t *testing.T) {
	cases := map[string]struct {
		change func(*schedulingv1alpha2.Workload)
		gates  features.Gates
		want   []string
	}{
		"everything set is valid": {change: func(*schedulingv1alpha2.Workload) {}},
		"a generateName does for a name": {change: func(w *schedulingv1alpha2.Workload) {
			w.Name, w.GenerateName = "", "train-"
		}},
		"a generateName must lead to a valid name": {
			change: func(w *schedulingv1alpha2.Workload) { w.Name, w.GenerateName = "", "Train-" },
			want:   []string{`metadata.generateName: Invalid value: "Train-": a lowercase RFC 1123 subdomain must consist of`},
		},
		"no namespace": {
			change: func(w *schedulingv1alpha2.Workload) { w.Namespace = "" },
			want:   []string{"metadata.namespace: Required value"},
		},
		"a namespace that is no label": {
			change: func(w *schedulingv1alpha2.Workload) { w.Namespace = "a.b" },
			want:   []string{`metadata.namespace: Invalid value: "a.b": must not contain dots`},
		},
		"an owner that is not whole is named without its index": {
			change: func(w *schedulingv1alpha2.Workload) {
				w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}, {APIVersion: "batch/v1", Kind: "Job", UID: "u"}}
			},
			want: []string{`metadata.ownerReferences.name: Invalid value: "": must not be empty`},
		},
		"an event cannot own": {
			change: func(w *schedulingv1alpha2.Workload) {
				w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Event", Name: "e", UID: "u"}}
			},
			want: []string{`metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`},
		},
		"a finalizer without a domain": {
			change: func(w *schedulingv1alpha2.Workload) { w.Finalizers = []string{"kubernetes", "orphan", "mine"} },
			want:   []string{`metadata.finalizers[2]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"faults of labels are listed by key": {
			change: func(w *schedulingv1alpha2.Workload) {
				w.Labels = map[string]string{"b": "-2", "a": "-3", "c": "-1", "d d": ""}
			},
			want: []string{
				`metadata.labels: Invalid value: "-3": `, `metadata.labels: Invalid value: "-2": `, `metadata.labels: Invalid value: "-1": `,
				`metadata.labels: Invalid value: "d d": `,
			},
		},
		"faults that read alike are listed once": {
			change: func(w *schedulingv1alpha2.Workload) { w.Labels = map[string]string{"a": "-", "b": "-"} },
			want:   []string{`metadata.labels: Invalid value: "-": `},
		},
		"faults of the spec are listed each": {
			change: func(w *schedulingv1alpha2.Workload) {
				w.Labels = map[string]string{"a": "-", "b": "-"}
				w.Spec.PodGroupTemplates[0].Name, w.Spec.PodGroupTemplates[1].Name = "-", ""
			},
			want: []string{
				`metadata.labels: Invalid value: "-": `, `spec.podGroupTemplates[0].name: Invalid value: "-": `,
				"spec.podGroupTemplates[1].name: Required value",
			},
		},
		"faults of annotations are listed by key, their size last": {
			change: func(w *schedulingv1alpha2.Workload) {
				w.Annotations = map[string]string{"c c": "", "a a": strings.Repeat("x", 256<<10), "b b": ""}
			},
			want: []string{
				`metadata.annotations: Invalid value: "a a": `, `metadata.annotations: Invalid value: "b b": `, `metadata.annotations: Invalid value: "c c": `,
				`metadata.annotations: Too long: may not be more than 262144 bytes`,
			},
		},
		"managed fields without an operation": {
			change: func(w *schedulingv1alpha2.Workload) { w.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} },
			want:   []string{"metadata.managedFields[0].operation: Invalid value: \"\": must be `Apply` or `Update`"},
		},
		"metadata comes before spec": {
			change: func(w *schedulingv1alpha2.Workload) { w.Name, w.Spec.PodGroupTemplates = "", nil },
			want:   []string{"metadata.name: Required value: name or generateName is required", "spec.podGroupTemplates: Required value"},
		},
		"fields whose gate is off are forbidden, and claims are not looked at": {
			change: func(*schedulingv1alpha2.Workload) {},
			gates:  generic,
			want: []string{
				"spec.podGroupTemplates[1].schedulingConstraints: Forbidden",
				"spec.podGroupTemplates[1].disruptionMode: Forbidden",
				"spec.podGroupTemplates[1].priorityClassName: Forbidden",
				"spec.podGroupTemplates[1].priority: Forbidden",
			},
		},
		"a priority beyond a user's": {
			change: func(w *schedulingv1alpha2.Workload) { w.Spec.PodGroupTemplates[1].Priority = new(int32(1000000001)) },
			want:   []string{"spec.podGroupTemplates[1].priority: Invalid value: 1000000001: must be less than or equal to 1000000000"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			workload := fullWorkload()
			tc.change(workload)
			wantLines(t, tc.want, validation.ValidateWorkload(workload, tc.gates))
		})
	}
}

// wantLines compares faults with the beginnings of their texts.
func wantLines(t *testing.T, want []string, faults field.ErrorList) {
	t.Helper()
	got := lines(faults)
	require.Len(t, got, len(want), "%q", got)
	for i := range want {
		assert.True(t, strings.HasPrefix(got[i], want[i]), "want %s\ngot  %s", want[i], got[i])
	}
}

func TestValidateWorkloadUpdate(t *testing.T) {
	immutable := func(path string) string { return path + ": Invalid value: null: field is immutable" }
	cases := map[string]struct {
		change func(w, old *schedulingv1alpha2.Workload)
		gates  features.Gates
		want   []string
	}{
		"nothing changed":          {change: func(_, _ *schedulingv1alpha2.Workload) {}},
		"labels and owners change": {change: func(w, _ *schedulingv1alpha2.Workload) { w.Labels = map[string]string{"a": "b"} }},
		"what is invalid already may stay": {change: func(w, old *schedulingv1alpha2.Workload) {
			w.Spec.PodGroupTemplates[0].Name, old.Spec.PodGroupTemplates[0].Name = "A_", "A_"
		}},
		"what has lost its gate may stay": {change: func(_, _ *schedulingv1alpha2.Workload) {}, gates: generic},
		"a minCount cannot change": {
			change: func(w, _ *schedulingv1alpha2.Workload) {
				w.Spec.PodGroupTemplates[1].SchedulingPolicy.Gang.MinCount = 5
			},
			want: []string{immutable("spec.podGroupTemplates")},
		},
		"no resource version": {
			change: func(w, _ *schedulingv1alpha2.Workload) { w.ResourceVersion = "" },
			want:   []string{`metadata.resourceVersion: Invalid value: "": must be specified for an update`},
		},
		"the generation goes back": {
			change: func(w, old *schedulingv1alpha2.Workload) { w.Generation, old.Generation = 1, 2 },
			want:   []string{"metadata.generation: Invalid value: 1: must not be decremented"},
		},
		"another UID and another name": {
			change: func(w, _ *schedulingv1alpha2.Workload) { w.UID, w.Name = "other", "v" },
			want:   []string{`metadata.name: Invalid value: "v": field is immutable`, `metadata.uid: Invalid value: "other": field is immutable`},
		},
		"no finalizer can be added to what is being deleted": {
			change: func(w, old *schedulingv1alpha2.Workload) {
				w.DeletionTimestamp, old.DeletionTimestamp = new(metav1.Unix(1, 0)), new(metav1.Unix(1, 0))
				old.Finalizers, w.Finalizers = []string{"a/b"}, []string{"a/b", "a/c"}
			},
			want: []string{`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c"}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			workload, old := fullWorkload(), fullWorkload()
			tc.change(workload, old)
			wantLines(t, tc.want, validation.ValidateWorkloadUpdate(workload, old, tc.gates))
		})
	}
}

func TestValidatePodGroup(t *testing.T) {
	assert.Empty(t, validation.ValidatePodGroup(fullPodGroup(), features.Gates{}))

	group := fullPodGroup()
	group.Name, group.Spec.DisruptionMode = "P", nil
	wantLines(t, []string{`metadata.name: Invalid value: "P": `, "spec.disruptionMode: Required value"}, validation.ValidatePodGroup(group, features.Gates{}))
}

func TestValidatePodGroupUpdateWithGatesOff(t *testing.T) {
	group, old := fullPodGroup(), fullPodGroup()
	assert.Empty(t, validation.ValidatePodGroupUpdate(group, old, generic), "what has lost its gate may stay")

	group.Spec.SchedulingConstraints, group.Spec.DisruptionMode = nil, nil
	group.Spec.PriorityClassName, group.Spec.Priority = "", nil
	assert.Empty(t, validation.ValidatePodGroupUpdate(group, old, generic), "what has lost its gate may go")

	wantLines(t, []string{
		"spec.schedulingConstraints: Forbidden", "spec.disruptionMode: Forbidden",
		"spec.priorityClassName: Forbidden", "spec.priority: Forbidden",
	}, validation.ValidatePodGroupUpdate(old, group, generic))
}

func TestValidatePodGroupUpdateLetsNothingChange(t *testing.T) {
	for path, change := range map[string]func(*schedulingv1alpha2.PodGroupSpec){
		"spec.podGroupTemplateRef":   func(spec *schedulingv1alpha2.PodGroupSpec) { spec.PodGroupTemplateRef = nil },
		"spec.schedulingPolicy":      func(spec *schedulingv1alpha2.PodGroupSpec) { spec.SchedulingPolicy.Gang.MinCount++ },
		"spec.schedulingConstraints": func(spec *schedulingv1alpha2.PodGroupSpec) { spec.SchedulingConstraints.Topology[0].Key = "zone" },
		"spec.resourceClaims":        func(spec *schedulingv1alpha2.PodGroupSpec) { spec.ResourceClaims = nil },
		"spec.disruptionMode": func(spec *schedulingv1alpha2.PodGroupSpec) {
			*spec.DisruptionMode = schedulingv1alpha2.DisruptionModePod
		},
		"spec.priorityClassName": func(spec *schedulingv1alpha2.PodGroupSpec) { spec.PriorityClassName = "low" },
		"spec.priority":          func(spec *schedulingv1alpha2.PodGroupSpec) { *spec.Priority = 8 },
	} {
		t.Run(path, func(t *testing.T) {
			group, old := fullPodGroup(), fullPodGroup()
			change(&group.Spec)
			wantLines(t, []string{path + ": Invalid value: null: field is immutable"}, validation.ValidatePodGroupUpdate(group, old, features.Gates{}))
		})
	}
}

func TestValidatePodGroupStatusUpdate(t *testing.T) {
	claims := func(names ...string) []schedulingv1alpha2.PodGroupResourceClaimStatus {
		var list []schedulingv1alpha2.PodGroupResourceClaimStatus
		for _, name := range names {
			list = append(list, schedulingv1alpha2.PodGroupResourceClaimStatus{Name: name})
		}
		return list
	}
	cases := map[string]struct {
		change func(*schedulingv1alpha2.PodGroupStatus)
		want   []string
	}{
		"an empty status": {change: func(status *schedulingv1alpha2.PodGroupStatus) { *status = schedulingv1alpha2.PodGroupStatus{} }},
		"an empty condition": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) { status.Conditions = []metav1.Condition{{}} },
			want: []string{
				`status.conditions[0].type: Invalid value: "": name part must be non-empty`,
				`status.conditions[0].type: Invalid value: "": name part must consist of`,
				`status.conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"`,
				"status.conditions[0].lastTransitionTime: Required value",
				"status.conditions[0].reason: Required value",
			},
		},
		"a reason that is too long and ends badly": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) {
				status.Conditions[0].Reason = strings.Repeat("r", 1024) + ","
			},
			want: []string{
				`status.conditions[0].reason: Invalid value: "rrr`,
				"status.conditions[0].reason: Too long: may not be more than 1024 bytes",
			},
		},
		"a type that comes twice": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) {
				status.Conditions = append(status.Conditions, scheduled())
			},
			want: []string{`status.conditions[1].type: Duplicate value: "PodGroupScheduled"`},
		},
		"a claim that the spec does not have": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) { status.ResourceClaimStatuses = claims("gpu", "tpu") },
			want:   []string{"status.resourceClaimStatuses[1].name: Invalid value: \"tpu\": must match the name of an entry in `spec.resourceClaims`"},
		},
		"a claim that comes twice": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) { status.ResourceClaimStatuses = claims("gpu", "gpu") },
			want:   []string{`status.resourceClaimStatuses[1]: Duplicate value: {"name":"gpu"}`},
		},
		"five claims": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) {
				status.ResourceClaimStatuses = claims("gpu", "gpu", "gpu", "gpu", "gpu")
			},
			want: []string{"status.resourceClaimStatuses: Too many: 5: must have at most 4 items"},
		},
		"a claim with a bad name": {
			change: func(status *schedulingv1alpha2.PodGroupStatus) {
				status.ResourceClaimStatuses[0].ResourceClaimName = new("A_")
			},
			want: []string{`status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A_": a lowercase RFC 1123 subdomain`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group, old := fullPodGroup(), fullPodGroup()
			tc.change(&group.Status)
			for _, gates := range []features.Gates{{}, generic} {
				wantLines(t, tc.want, validation.ValidatePodGroupStatusUpdate(group, old, gates))
			}
		})
	}
}

func TestValidationLeavesItsArgumentsAlone(t *testing.T) {
	workload, group := fullWorkload(), fullPodGroup()
	validation.ValidateWorkloadUpdate(workload, fullWorkload(), generic)
	validation.ValidatePodGroupUpdate(group, fullPodGroup(), generic)
	validation.ValidatePodGroupStatusUpdate(group, fullPodGroup(), generic)
	assert.Empty(t, cmp.Diff(fullWorkload(), workload))
	assert.Empty(t, cmp.Diff(fullPodGroup(), group))
}

func ExampleValidateWorkload() {
	workload := &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "default"},
		Spec: schedulingv1alpha2.WorkloadSpec{
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
				Name: "workers.gpu",
				SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
					Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: -1},
				},
			}},
		},
	}
	for _, fault := range validation.ValidateWorkload(workload, features.Gates{}) {
		fmt.Println(fault)
	}
	// Output:
	// spec.podGroupTemplates[0].name: Invalid value: "workers.gpu": must not contain dots
	// spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1
}

func ExampleValidatePodGroup() {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "train-workers", Namespace: "default"}}
	schedulingv1alpha2.SetObjectDefaults_PodGroup(group)
	for _, fault := range validation.ValidatePodGroup(group, features.Gates{}) {
		fmt.Println(fault)
	}
	// Output:
	// spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`
}
