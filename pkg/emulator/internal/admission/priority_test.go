package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8sadmission "k8s.io/apiserver/pkg/admission"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

func class(name string, value int32, globalDefault bool) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: globalDefault, PreemptionPolicy: new(corev1.PreemptNever),
	}
}

func TestPriorityOfPods(t *testing.T) {
	lower, never := corev1.PreemptLowerPriority, corev1.PreemptNever
	for name, tc := range map[string]struct {
		classes    []runtime.Object
		spec       corev1.PodSpec
		wantName   string
		want       int32
		wantPolicy corev1.PreemptionPolicy
		wantErr    string
	}{
		"no class is priority 0":              {want: 0, wantPolicy: lower},
		"a class gives number and policy":     {classes: []runtime.Object{class("high", 7, false)}, spec: corev1.PodSpec{PriorityClassName: "high"}, wantName: "high", want: 7, wantPolicy: never},
		"the default is for those of none":    {classes: []runtime.Object{class("usual", 3, true)}, wantName: "usual", want: 3, wantPolicy: never},
		"the lower of two defaults":           {classes: []runtime.Object{class("a", 5, true), class("b", 4, true)}, wantName: "b", want: 4, wantPolicy: never},
		"classes of the system are for all":   {spec: corev1.PodSpec{PriorityClassName: "system-cluster-critical"}, wantName: "system-cluster-critical", want: 2000000000, wantPolicy: lower},
		"a class must exist":                  {spec: corev1.PodSpec{PriorityClassName: "absent"}, wantErr: `pods "x" is forbidden: no PriorityClass with name absent was found`},
		"a name that none can have is absent": {spec: corev1.PodSpec{PriorityClassName: "a/b"}, wantErr: `pods "x" is forbidden: no PriorityClass with name a/b was found`},
		"the right number may be given":       {spec: corev1.PodSpec{Priority: new(int32(0))}, wantPolicy: lower},
		"and no other": {
			spec:    corev1.PodSpec{Priority: new(int32(1))},
			wantErr: `pods "x" is forbidden: the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`,
		},
		"nor another policy": {
			spec:    corev1.PodSpec{PreemptionPolicy: &never},
			wantErr: `pods "x" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, features.Gates{})
			c.has(classesResource, "", tc.classes...)
			pod := &corev1.Pod{Spec: tc.spec}
			err := c.admit(create(podsResource, "Pod", pod))
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.wantName, pod.Spec.PriorityClassName)
			assert.Equal(t, tc.want, *pod.Spec.Priority)
			assert.Equal(t, tc.wantPolicy, *pod.Spec.PreemptionPolicy)
		})
	}
}

func TestPriorityStaysWhenAnUpdateForgetsIt(t *testing.T) {
	c := newCluster(t, features.Gates{})
	pod := &corev1.Pod{}
	update := create(podsResource, "Pod", pod)
	update.operation = k8sadmission.Update
	update.old = &corev1.Pod{Spec: corev1.PodSpec{Priority: new(int32(7)), PreemptionPolicy: new(corev1.PreemptNever)}}
	require.NoError(t, c.admit(update))
	assert.Equal(t, int32(7), *pod.Spec.Priority)
	assert.Equal(t, corev1.PreemptNever, *pod.Spec.PreemptionPolicy)
}

func TestPriorityOfPodGroups(t *testing.T) {
	for name, tc := range map[string]struct {
		gates    features.Gates
		spec     schedulingv1alpha2.PodGroupSpec
		wantName string
		want     *int32
		wantErr  string
	}{
		"a group of no class has priority 0": {want: new(int32(0))},
		"a group of a class has its number":  {spec: schedulingv1alpha2.PodGroupSpec{PriorityClassName: "high"}, wantName: "high", want: new(int32(7))},
		"another number is refused": {
			spec:    schedulingv1alpha2.PodGroupSpec{PriorityClassName: "high", Priority: new(int32(1))},
			wantErr: `podgroups.scheduling.k8s.io "x" is forbidden: priority set in the pod group (1) must match the priority computed (7) based on the priority class set in the spec`,
		},
		"without the gate groups have none": {gates: features.Gates{}.With(features.WorkloadAwarePreemption, false)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tc.gates)
			c.has(classesResource, "", class("high", 7, false))
			group := &schedulingv1alpha2.PodGroup{Spec: tc.spec}
			err := c.admit(create(groupsResource, "PodGroup", group))
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.wantName, group.Spec.PriorityClassName)
			assert.Equal(t, tc.want, group.Spec.Priority)
		})
	}
}

func TestOneDefaultClass(t *testing.T) {
	c := newCluster(t, features.Gates{})
	c.has(classesResource, "", class("first", 1, true))
	second := create(classesResource, "PriorityClass", class("second", 2, true))
	second.name, second.namespace = "second", ""
	assert.EqualError(t, c.admit(second), `priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass first is already marked as default. Only one default can exist`)

	again := second
	again.operation, again.name, again.obj, again.old = k8sadmission.Update, "first", class("first", 1, true), class("first", 1, true)
	assert.NoError(t, c.admit(again))
}
