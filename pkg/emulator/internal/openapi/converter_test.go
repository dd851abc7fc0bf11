package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// checking is the converter without the short cut: it passes on to the one of apimachinery, which checks everything.
type checking struct{ managedfields.TypeConverter }

func newChecking(t *testing.T) managedfields.TypeConverter {
	t.Helper()
	built, err := coreConverter()
	require.NoError(t, err)
	return checking{built.TypeConverter}
}

// newManager returns what keeps the managed fields of pods.
func newManager(t *testing.T, converter managedfields.TypeConverter) *managedfields.FieldManager {
	t.Helper()
	s := scheme.New()
	hub := schema.GroupVersion{Version: runtime.APIVersionInternal}
	manager, err := managedfields.NewDefaultFieldManager(converter, runtime.UnsafeObjectConvertor(s.Scheme), s, s,
		corev1.SchemeGroupVersion.WithKind("Pod"), hub, "", nil)
	require.NoError(t, err)
	return manager
}

func podWith(change func(pod *corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "b", Labels: map[string]string{"l": "m"}, Finalizers: []string{"example.com/f"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u"}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "c", Image: "i",
				Ports:     []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
				Env:       []corev1.EnvVar{{Name: "E", Value: "1"}},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
			}},
		},
	}
	change(pod)
	return pod
}

// The short cut must not show: what managed fields come out, and whether any do, is the same with all checks.
func TestManagedFieldsAreThoseOfCheckedConversions(t *testing.T) {
	same := func(*corev1.Pod) {}
	for name, tc := range map[string]struct{ before, after func(pod *corev1.Pod) }{
		"nothing changes":   {same, same},
		"a label comes":     {same, func(pod *corev1.Pod) { pod.Labels["n"] = "o" }},
		"a finalizer goes":  {same, func(pod *corev1.Pod) { pod.Finalizers = nil }},
		"a quantity grows":  {same, func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("2") }},
		"a status is given": {same, func(pod *corev1.Pod) { pod.Status = podStatus() }},
		"a status is taken": {func(pod *corev1.Pod) { pod.Status = podStatus() }, same},
		"a variable is set twice": {same, func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: "1"}, {Name: "E", Value: "2"}}
		}},
		"a variable was set twice": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: "1"}, {Name: "E", Value: "2"}}
		}, same},
		"a variable was set twice and still is": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: "1"}, {Name: "E", Value: "2"}}
		}, func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: "2"}, {Name: "E", Value: "1"}}
		}},
		"a key is missing":  {same, func(pod *corev1.Pod) { pod.Status.PodIPs = []corev1.PodIP{{}, {IP: "10.0.0.1"}} }},
		"a key was missing": {func(pod *corev1.Pod) { pod.Status.PodIPs = []corev1.PodIP{{}, {IP: "10.0.0.1"}} }, same},
		"a key with a default is missing": {same, func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			managed := map[string][]metav1.ManagedFieldsEntry{}
			for how, converter := range map[string]managedfields.TypeConverter{"quick": TypeConverter(""), "checking": newChecking(t)} {
				manager := newManager(t, converter)
				created := manager.UpdateNoErrors(&corev1.Pod{}, podWith(tc.before), "creator")
				after := podWith(tc.after)
				after.ManagedFields = created.(*corev1.Pod).ManagedFields
				updated := manager.UpdateNoErrors(created, after, "updater")
				managed[how] = withoutTimes(updated.(*corev1.Pod).ManagedFields)
			}
			assert.Empty(t, cmp.Diff(managed["checking"], managed["quick"]))
		})
	}
}

func podStatus() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		PodIPs:     []corev1.PodIP{{IP: "10.0.0.1"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
}

func withoutTimes(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for i := range entries {
		entries[i].Time = nil
	}
	return entries
}

func TestDuplicatesThatAreNotAllowedAreFound(t *testing.T) {
	twice := podWith(func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, pod.Spec.Containers...) })
	twice.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	for range 2 { // the second time its type is known
		_, err := TypeConverter("").ObjectToTyped(twice, typed.AllowDuplicates)
		require.NoError(t, err)
	}
	_, err := TypeConverter("").ObjectToTyped(twice)
	assert.ErrorContains(t, err, "duplicate entries")
}
