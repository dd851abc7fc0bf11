package pod_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

// guarded returns clients of a running pod and of the budget that it is in.
func guarded(t *testing.T, ready bool, spec policyv1.PodDisruptionBudgetSpec, status policyv1.PodDisruptionBudgetStatus) (pods, budgets registrytest.Client) {
	t.Helper()
	storages := registrytest.New(t, features.Gates{})
	pods = storages.Client(t, corev1.SchemeGroupVersion.WithResource("pods"), "default")
	budgets = storages.Client(t, policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), "default")
	_, err := pods.Create(makePod(func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"app": "a"}
		pod.Spec.NodeName = "n1"
	}))
	require.NoError(t, err)
	_, err = pods.Update("p", "status", func(obj runtime.Object) {
		pod := obj.(*corev1.Pod)
		pod.Status.Phase = corev1.PodRunning
		if ready {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
	})
	require.NoError(t, err)
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	_, err = budgets.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}, Spec: spec})
	require.NoError(t, err)
	_, err = budgets.Update("b", "status", func(obj runtime.Object) { obj.(*policyv1.PodDisruptionBudget).Status = status })
	require.NoError(t, err)
	return pods, budgets
}

func evict(pods registrytest.Client, options *metav1.DeleteOptions) (runtime.Object, error) {
	return pods.Post("p", "eviction", &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, DeleteOptions: options})
}

func TestEvictionsArePaidFromTheBudget(t *testing.T) {
	pods, budgets := guarded(t, true, policyv1.PodDisruptionBudgetSpec{},
		policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2})
	_, err := evict(pods, &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	stored, err := budgets.Get("b")
	require.NoError(t, err)
	assert.Equal(t, int32(1), stored.(*policyv1.PodDisruptionBudget).Status.DisruptionsAllowed, "a trial costs nothing")

	_, err = evict(pods, nil)
	require.NoError(t, err)
	assert.NotNil(t, get(t, pods).DeletionTimestamp)
	stored, err = budgets.Get("b")
	require.NoError(t, err)
	status := stored.(*policyv1.PodDisruptionBudget).Status
	assert.Equal(t, int32(0), status.DisruptionsAllowed)
	assert.Contains(t, status.DisruptedPods, "p")
	require.Len(t, status.Conditions, 1)
	assert.Equal(t, policyv1.InsufficientPodsReason, status.Conditions[0].Reason)
}

func TestEvictionsWaitForTheBudget(t *testing.T) {
	always := policyv1.AlwaysAllow
	for name, tc := range map[string]struct {
		ready       bool
		spec        policyv1.PodDisruptionBudgetSpec
		status      policyv1.PodDisruptionBudgetStatus
		cause       string
		wantSeconds int32
	}{
		"a budget of nothing refuses": {
			ready: true, status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 1},
			cause: "The disruption budget b needs 1 healthy pods and has 1 currently",
		},
		"a budget that its controller has not seen refuses": {
			ready: true, status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
			cause: "The disruption budget b is still being processed by the server.", wantSeconds: 10,
		},
		"pods that are not ready count when too few are": {
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 2},
			cause:  "The disruption budget b needs 2 healthy pods and has 1 currently",
		},
		"pods that are not ready may go when enough are": {
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 2, DesiredHealthy: 2},
		},
		"pods that are not ready may always go if the budget says so": {
			spec:   policyv1.PodDisruptionBudgetSpec{UnhealthyPodEvictionPolicy: &always},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pods, _ := guarded(t, tc.ready, tc.spec, tc.status)
			_, err := evict(pods, nil)
			if tc.cause == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsTooManyRequests(err), "%v", err)
			details := err.(apierrors.APIStatus).Status().Details
			assert.Equal(t, tc.wantSeconds, details.RetryAfterSeconds)
			require.NotEmpty(t, details.Causes)
			assert.Equal(t, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: tc.cause}, details.Causes[len(details.Causes)-1])
			assert.Nil(t, get(t, pods).DeletionTimestamp)
		})
	}
}

func TestTwoBudgetsAreTooMany(t *testing.T) {
	pods, budgets := guarded(t, true, policyv1.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1})
	_, err := budgets.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}})
	require.NoError(t, err)
	answer, err := evict(pods, nil)
	require.NoError(t, err)
	assert.Equal(t, int32(500), answer.(*metav1.Status).Code)
	assert.Nil(t, get(t, pods).DeletionTimestamp)
}

func TestPodsThatDoNotRunCostNothing(t *testing.T) {
	pods, budgets := guarded(t, true, policyv1.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1})
	_, err := pods.Update("p", "status", func(obj runtime.Object) { obj.(*corev1.Pod).Status.Phase = corev1.PodFailed })
	require.NoError(t, err)
	_, err = evict(pods, nil)
	require.NoError(t, err)
	stored, err := budgets.Get("b")
	require.NoError(t, err)
	assert.Empty(t, stored.(*policyv1.PodDisruptionBudget).Status.DisruptedPods)
}

func TestEphemeralContainersAreAdded(t *testing.T) {
	client := pods(t)
	_, err := client.Create(makePod(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }))
	require.NoError(t, err)
	add := func(name, image string) func(runtime.Object) {
		return func(obj runtime.Object) {
			pod := obj.(*corev1.Pod)
			pod.Labels = map[string]string{"ignored": "yes"}
			pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: name, Image: image, ImagePullPolicy: corev1.PullAlways, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}}}
		}
	}
	_, err = client.Update("p", "", add("debug", "i"))
	assert.True(t, apierrors.IsInvalid(err), "only the subresource adds them: %v", err)
	updated, err := client.Update("p", "ephemeralcontainers", add("debug", "i"))
	require.NoError(t, err)
	assert.Len(t, updated.(*corev1.Pod).Spec.EphemeralContainers, 1)
	assert.Empty(t, updated.(*corev1.Pod).Labels)
	assert.Equal(t, int64(2), updated.(*corev1.Pod).Generation)
	_, err = client.Update("p", "ephemeralcontainers", add("debug", "j"))
	assert.ErrorContains(t, err, `existing ephemeral containers "debug" may not be changed`)
	_, err = client.Update("p", "ephemeralcontainers", add("other", "i"))
	assert.ErrorContains(t, err, `existing ephemeral containers "debug" may not be removed`)
}
