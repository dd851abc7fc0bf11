package pod_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func pods(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("pods"), "default")
}

// makePod returns a pod that is valid, changed as told.
func makePod(change func(pod *corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
	}
	core.SetPodDefaults(pod)
	if change != nil {
		change(pod)
	}
	return pod
}

func get(t *testing.T, client registrytest.Client) *corev1.Pod {
	t.Helper()
	obj, err := client.Get("p")
	require.NoError(t, err)
	return obj.(*corev1.Pod)
}

func bindTo(node string) *corev1.Binding {
	return &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
}

func TestCreateStartsPodsAsPending(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Message: "says the client"}
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		pod.Labels = map[string]string{"app": "a"}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"app", "absent"},
		}}
	}))
	require.NoError(t, err)
	pod := get(t, client)
	assert.Equal(t, int64(1), pod.Generation)
	assert.Equal(t, corev1.PodPending, pod.Status.Phase)
	assert.Equal(t, corev1.PodQOSBestEffort, pod.Status.QOSClass)
	assert.Empty(t, pod.Status.Message)
	require.Len(t, pod.Status.Conditions, 1)
	assert.Equal(t, corev1.PodReasonSchedulingGated, pod.Status.Conditions[0].Reason)
	assert.Equal(t, []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a"}}},
		pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions)
}

func TestUpdateKeepsTheStatusAndCountsGenerations(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(nil))
	require.NoError(t, err)
	_, err = client.Update("p", "", func(obj runtime.Object) {
		pod := obj.(*corev1.Pod)
		pod.Status.Phase = corev1.PodFailed
		pod.Spec.Containers[0].Image = "other"
	})
	require.NoError(t, err)
	pod := get(t, client)
	assert.Equal(t, corev1.PodPending, pod.Status.Phase)
	assert.Equal(t, int64(2), pod.Generation)

	_, err = client.Update("p", "", func(obj runtime.Object) { obj.(*corev1.Pod).Labels = map[string]string{"a": "b"} })
	require.NoError(t, err)
	assert.Equal(t, int64(2), get(t, client).Generation, "labels are no part of the spec")
}

func TestStatusUpdateKeepsSpecOwnersAndWhatKubeletsForget(t *testing.T) {
	client := pods(t)
	owners := []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u"}}
	_, err := client.Create(makePod(func(pod *corev1.Pod) { pod.OwnerReferences = owners }))
	require.NoError(t, err)
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, ObservedGeneration: 1}
	_, err = client.Update("p", "status", func(obj runtime.Object) { obj.(*corev1.Pod).Status.Conditions = []corev1.PodCondition{condition} })
	require.NoError(t, err)
	_, err = client.Update("p", "status", func(obj runtime.Object) {
		pod := obj.(*corev1.Pod)
		pod.OwnerReferences = nil
		pod.Spec.Containers[0].Image = "other"
		pod.Labels = map[string]string{"kept": "yes"}
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	})
	require.NoError(t, err)
	pod := get(t, client)
	assert.Equal(t, owners, pod.OwnerReferences)
	assert.Equal(t, "busybox", pod.Spec.Containers[0].Image)
	assert.Equal(t, "yes", pod.Labels["kept"])
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	assert.Equal(t, corev1.PodQOSBestEffort, pod.Status.QOSClass)
	assert.Equal(t, int64(1), pod.Status.Conditions[0].ObservedGeneration)
}

func TestBinding(t *testing.T) {
	for name, tc := range map[string]struct {
		pod     func(pod *corev1.Pod)
		binding func(binding *corev1.Binding)
		wantErr string
	}{
		"a pod without a node gets one": {},
		"a pod on a node stays there": {
			pod:     func(pod *corev1.Pod) { pod.Spec.NodeName = "n0" },
			wantErr: `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n0"`,
		},
		"a gated pod waits": {
			pod: func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
			},
			wantErr: `Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates`,
		},
		"a binding needs a target": {
			binding: func(binding *corev1.Binding) { binding.Target.Name = "" },
			wantErr: "target.name: Required value",
		},
		"and the target must be a node": {
			binding: func(binding *corev1.Binding) { binding.Target.Kind = "Minion" },
			wantErr: `target.kind: Unsupported value: "Minion": supported values: "Node", "<empty>"`,
		},
		"the name in the URL counts": {
			binding: func(binding *corev1.Binding) { binding.Name = "other" },
			wantErr: "name in URL does not match name in Binding object",
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := pods(t)
			_, err := client.Create(makePod(tc.pod))
			require.NoError(t, err)
			request := bindTo("n1")
			request.Annotations = map[string]string{"a": "b"}
			if tc.binding != nil {
				tc.binding(request)
			}
			out, err := client.Post("p", "binding", request)
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, metav1.StatusSuccess, out.(*metav1.Status).Status)
			pod := get(t, client)
			assert.Equal(t, "n1", pod.Spec.NodeName)
			assert.Equal(t, "b", pod.Annotations["a"])
			condition := core.PodCondition(pod, corev1.PodScheduled)
			require.NotNil(t, condition)
			assert.Equal(t, corev1.ConditionTrue, condition.Status)
			assert.False(t, condition.LastTransitionTime.IsZero())
		})
	}
}

func TestBindingIsForOnePodOfItsName(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(nil))
	require.NoError(t, err)
	request := bindTo("n1")
	request.UID = types.UID("another")
	_, err = client.Post("p", "binding", request)
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.Empty(t, get(t, client).Spec.NodeName)

	_, err = client.Post("absent", "binding", &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "absent"}, Target: corev1.ObjectReference{Name: "n1"}})
	assert.EqualError(t, err, `pods "absent" not found`)
}

func TestDelete(t *testing.T) {
	for name, tc := range map[string]struct {
		pod       func(pod *corev1.Pod)
		phase     corev1.PodPhase
		options   metav1.DeleteOptions
		wantGone  bool
		wantGrace int64
	}{
		"a pod without a node goes at once":     {wantGone: true},
		"a pod on a node gets its time":         {pod: func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }, wantGrace: 30},
		"or the time that the request gives it": {pod: func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }, options: metav1.DeleteOptions{GracePeriodSeconds: new(int64(5))}, wantGrace: 5},
		"a time below none is short":            {pod: func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }, options: metav1.DeleteOptions{GracePeriodSeconds: new(int64(-1))}, wantGrace: 1},
		"a pod that has finished goes at once":  {pod: func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }, phase: corev1.PodSucceeded, wantGone: true},
		"no time is no time, on a node or not":  {pod: func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }, options: metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, wantGone: true},
		"finalizers hold even a pod of no node": {pod: func(pod *corev1.Pod) { pod.Finalizers = []string{"batch.kubernetes.io/job-tracking"} }},
	} {
		t.Run(name, func(t *testing.T) {
			client := pods(t)
			_, err := client.Create(makePod(tc.pod))
			require.NoError(t, err)
			if tc.phase != "" {
				_, err = client.Update("p", "status", func(obj runtime.Object) { obj.(*corev1.Pod).Status.Phase = tc.phase })
				require.NoError(t, err)
			}
			_, gone, err := client.Delete("p", &tc.options)
			require.NoError(t, err)
			assert.Equal(t, tc.wantGone, gone)
			if tc.wantGone {
				_, err = client.Get("p")
				assert.True(t, apierrors.IsNotFound(err))
				return
			}
			pod := get(t, client)
			require.NotNil(t, pod.DeletionTimestamp)
			assert.Equal(t, tc.wantGrace, *pod.DeletionGracePeriodSeconds)
		})
	}
}

func TestEvictionMarksAndDeletes(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }))
	require.NoError(t, err)
	pod := get(t, client)
	_, err = client.Post("p", "eviction", &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("1")}}})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	_, err = client.Post("p", "eviction", &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &pod.ResourceVersion}}})
	require.NoError(t, err)
	pod = get(t, client)
	assert.NotNil(t, pod.DeletionTimestamp)
	condition := core.PodCondition(pod, corev1.DisruptionTarget)
	require.NotNil(t, condition)
	assert.Equal(t, "EvictionByEvictionAPI", condition.Reason)
}

func TestSelectByField(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }))
	require.NoError(t, err)
	for selector, want := range map[string]int{
		"spec.nodeName=n1":                        1,
		"spec.nodeName=n2":                        0,
		"status.phase=Pending,metadata.name=p":    1,
		"spec.hostNetwork=false":                  1,
		"spec.restartPolicy!=Always":              0,
		"metadata.namespace=default":              1,
		"spec.schedulerName=default-scheduler":    1,
		"status.nominatedNodeName=,status.podIP=": 1,
	} {
		list, err := client.List(fields.ParseSelectorOrDie(selector))
		require.NoError(t, err)
		assert.Len(t, list.(*corev1.PodList).Items, want, selector)
	}
}

// warnings collects what a request is warned of.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestAppArmorAnnotationsAreDeprecated(t *testing.T) {
	runtimeDefault := &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	for name, tc := range map[string]struct {
		annotation string
		change     func(spec *corev1.PodSpec)
		want       int
	}{
		"an annotation alone":   {annotation: "runtime/default", want: 1},
		"one that says nothing": {annotation: "nonsense", want: 1},
		"one that repeats the pod's field": {annotation: "runtime/default", change: func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: runtimeDefault}
		}},
		"one that differs from that": {annotation: "unconfined", change: func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: runtimeDefault}
		}, want: 1},
		"one beside the container's field": {annotation: "runtime/default", change: func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{AppArmorProfile: runtimeDefault}
		}},
		"one on a system that has no AppArmor": {annotation: "runtime/default", change: func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }},
	} {
		t.Run(name, func(t *testing.T) {
			storages := registrytest.New(t, features.Gates{})
			pod := makePod(func(pod *corev1.Pod) {
				pod.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/c": tc.annotation}
				if tc.change != nil {
					tc.change(&pod.Spec)
				}
			})
			var warned warnings
			ctx := warning.WithWarningRecorder(registrytest.Context(t, corev1.SchemeGroupVersion.WithResource("pods"), "default"), &warned)
			// Some of these pods are refused afterwards; the warning comes first.
			_, _ = storages[corev1.SchemeGroupVersion]["pods"].(rest.Creater).Create(ctx, pod, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			deprecations := 0
			for _, text := range warned {
				if strings.Contains(text, `deprecated since v1.30; use the "appArmorProfile" field instead`) {
					deprecations++
				}
			}
			assert.Equal(t, tc.want, deprecations, "%v", warned)
		})
	}
}
