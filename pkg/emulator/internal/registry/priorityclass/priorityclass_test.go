package priorityclass_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func classes(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"), "")
}

func makeClass(name string, value int32) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: new(corev1.PreemptLowerPriority)}
}

func TestCreate(t *testing.T) {
	for name, tc := range map[string]struct {
		class   *schedulingv1.PriorityClass
		policy  corev1.PreemptionPolicy
		wantErr string
	}{
		"the highest that users may have": {class: makeClass("high", 1000000000)},
		"one more": {
			class: makeClass("high", 1000000001), wantErr: "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
		},
		"a name of the system's": {
			class: makeClass("system-mine", 1), wantErr: "are reserved for system use only. error: system-mine is not a known system priority class",
		},
		"the system's name with another value": {
			class: makeClass("system-cluster-critical", 1), wantErr: "error: value of system-cluster-critical PriorityClass must be 2000000000",
		},
		"a policy that nobody knows": {
			class: makeClass("high", 1), policy: "Sometimes", wantErr: `preemptionPolicy: Unsupported value: "Sometimes"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.policy != "" {
				tc.class.PreemptionPolicy = &tc.policy
			}
			obj, err := classes(t).Create(tc.class)
			if tc.wantErr != "" {
				assert.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, int64(1), obj.(*schedulingv1.PriorityClass).Generation)
		})
	}
}

func TestValueAndPolicyStay(t *testing.T) {
	client := classes(t)
	_, err := client.Create(makeClass("high", 5))
	require.NoError(t, err)
	_, err = client.Update("high", "", func(obj runtime.Object) {
		obj.(*schedulingv1.PriorityClass).Value = 6
		obj.(*schedulingv1.PriorityClass).PreemptionPolicy = new(corev1.PreemptNever)
	})
	assert.ErrorContains(t, err, "value: Forbidden: may not be changed in an update.")
	assert.ErrorContains(t, err, "preemptionPolicy: Invalid value: \"Never\": field is immutable")
	_, gone, err := client.Delete("high", &metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.True(t, gone)
}

func TestTable(t *testing.T) {
	assert.Equal(t, []any{"high", int64(5), false, "<unknown>", "PreemptLowerPriority"}, classes(t).Table(makeClass("high", 5)).Rows[0].Cells)
}
