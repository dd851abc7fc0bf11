package cluster_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/kubelet"
)

func nodeNamed(t *testing.T, client kubernetes.Interface, name string) *corev1.Node {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return node
}

// readyAndTaints is what a scheduler looks at.
func readyAndTaints(node *corev1.Node) (ready string, taints []string) {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			ready = string(condition.Status) + " " + condition.Reason
		}
	}
	for _, taint := range node.Spec.Taints {
		taints = append(taints, taint.Key+":"+string(taint.Effect))
	}
	slices.Sort(taints)
	return ready, taints
}

// lonelyPod is the only pod of a Job on a cluster of two nodes, and runs for two hours.
func lonelyPod(t *testing.T) (c *cluster.Cluster, client kubernetes.Interface, pod corev1.Pod) {
	t.Helper()
	c = start(t, cluster.Options{Nodes: 2, Script: kubelet.Fixed{Duration: 2 * time.Hour}})
	client = kube(t, c.Config())
	createJob(t, client, newJob("j", func(spec *batchv1.JobSpec) {
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
	}))
	pass(time.Minute)
	pods := listPods(t, client)
	require.Len(t, pods, 1)
	require.Equal(t, corev1.PodRunning, pods[0].Status.Phase)
	return c, client, pods[0]
}

func podNamed(t *testing.T, client kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	for _, pod := range listPods(t, client) {
		if pod.Name == name {
			return &pod
		}
	}
	return nil
}

func disruption(pod *corev1.Pod) string {
	if condition := core.PodCondition(pod, corev1.DisruptionTarget); condition != nil {
		return condition.Reason
	}
	return ""
}

func TestALostNodeAndItsReturn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client, pod := lonelyPod(t)
		node := pod.Spec.NodeName
		c.Kubelet().Lose(node)

		pass(45 * time.Second)
		ready, taints := readyAndTaints(nodeNamed(t, client, node))
		assert.Equal(t, "True KubeletReady", ready, "it may only be late")
		assert.Empty(t, taints)

		pass(25 * time.Second)
		ready, taints = readyAndTaints(nodeNamed(t, client, node))
		assert.Equal(t, "Unknown NodeStatusUnknown", ready)
		assert.Equal(t, []string{"node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/unreachable:NoSchedule"}, taints)
		assert.False(t, core.PodReady(podNamed(t, client, pod.Name)))

		pass(4 * time.Minute)
		assert.Nil(t, podNamed(t, client, pod.Name).DeletionTimestamp, "pods tolerate this for five minutes")

		pass(time.Minute + 30*time.Second)
		evicted := podNamed(t, client, pod.Name)
		require.NotNil(t, evicted.DeletionTimestamp)
		assert.Equal(t, "DeletionByTaintManager", disruption(evicted))
		assert.Equal(t, corev1.PodRunning, evicted.Status.Phase, "nobody can tell that it has ended")
		pass(20 * time.Minute)
		require.NotNil(t, podNamed(t, client, pod.Name), "it is there as long as the node is not")

		c.Kubelet().Restore(node)
		pass(time.Minute)
		assert.Nil(t, podNamed(t, client, pod.Name))
		ready, taints = readyAndTaints(nodeNamed(t, client, node))
		assert.Equal(t, "True KubeletReady", ready)
		assert.Empty(t, taints)

		pass(3 * time.Hour)
		awaitComplete(t, client, "j")
		j, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Get(t.Context(), "j", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Zero(t, j.Status.Failed, "a disruption is not the pod's fault")
	})
}

func TestANodeThatIsBackInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client, pod := lonelyPod(t)
		c.Kubelet().Lose(pod.Spec.NodeName)
		pass(3 * time.Minute)
		c.Kubelet().Restore(pod.Spec.NodeName)
		pass(time.Minute)
		after := podNamed(t, client, pod.Name)
		assert.Nil(t, after.DeletionTimestamp)
		assert.Empty(t, disruption(after))
		assert.True(t, core.PodReady(after))
		pass(time.Hour)
		assert.Nil(t, podNamed(t, client, pod.Name).DeletionTimestamp)
	})
}

func TestALostNodeThatIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client, pod := lonelyPod(t)
		c.Kubelet().Lose(pod.Spec.NodeName)
		pass(10 * time.Minute)
		require.NotNil(t, podNamed(t, client, pod.Name).DeletionTimestamp)
		require.NoError(t, client.CoreV1().Nodes().Delete(t.Context(), pod.Spec.NodeName, metav1.DeleteOptions{}))
		pass(2 * time.Minute)
		assert.Nil(t, podNamed(t, client, pod.Name))
		pods := listPods(t, client)
		require.Len(t, pods, 1)
		assert.NotEqual(t, pod.Spec.NodeName, pods[0].Spec.NodeName)
		leases, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, leases.Items, 1, "that of the node went with it")
		assert.Less(t, now().Sub(leases.Items[0].Spec.RenewTime.Time), 11*time.Second)
	})
}

func TestPodsOfADeletedNodeFail(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, client, pod := lonelyPod(t)
		_, err := client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":["batch.kubernetes.io/job-tracking","example.com/look"]}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().Nodes().Delete(t.Context(), pod.Spec.NodeName, metav1.DeleteOptions{}))
		pass(30 * time.Second)
		assert.Nil(t, podNamed(t, client, pod.Name).DeletionTimestamp, "the node may come back")
		pass(time.Minute)
		after := podNamed(t, client, pod.Name)
		assert.Equal(t, corev1.PodFailed, after.Status.Phase)
		assert.Equal(t, "DeletionByPodGC", disruption(after))
		assert.NotNil(t, after.DeletionTimestamp)
	})
}

func TestALostNodeIsFoundAfterTheGraceThatOptionsGive(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start(t, cluster.Options{
			Nodes: 2, Script: kubelet.Fixed{Duration: time.Hour}, NodeGracePeriod: 2 * time.Second, TolerationSeconds: new(int64(3)),
		})
		client := kube(t, c.Config())
		createJob(t, client, newJob("j", nil))
		pass(time.Minute)
		pods := listPods(t, client)
		require.Len(t, pods, 1)
		ready, taints := readyAndTaints(nodeNamed(t, client, pods[0].Spec.NodeName))
		assert.Equal(t, "True KubeletReady", ready, "its Lease is renewed in time")
		assert.Empty(t, taints)

		c.Kubelet().Lose(pods[0].Spec.NodeName)
		pass(2500 * time.Millisecond)
		ready, _ = readyAndTaints(nodeNamed(t, client, pods[0].Spec.NodeName))
		assert.Equal(t, "Unknown NodeStatusUnknown", ready)
		assert.Nil(t, podNamed(t, client, pods[0].Name).DeletionTimestamp)
		pass(3 * time.Second)
		assert.NotNil(t, podNamed(t, client, pods[0].Name).DeletionTimestamp)
		pass(15 * time.Second)
		assert.Len(t, listPods(t, client), 2, "it is replaced, after a back-off")
	})
}

func TestANodeIsLostByAnnotation(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, client, pod := lonelyPod(t)
		annotate := func(value string) {
			_, err := client.CoreV1().Nodes().Patch(t.Context(), pod.Spec.NodeName, types.MergePatchType,
				[]byte(`{"metadata":{"annotations":{"kubelet.muster.dev/lost":`+value+`}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
		}
		annotate(`"true"`)
		pass(2 * time.Minute)
		ready, _ := readyAndTaints(nodeNamed(t, client, pod.Spec.NodeName))
		assert.Equal(t, "Unknown NodeStatusUnknown", ready)
		annotate("null")
		pass(time.Minute)
		ready, taints := readyAndTaints(nodeNamed(t, client, pod.Spec.NodeName))
		assert.Equal(t, "True KubeletReady", ready)
		assert.Empty(t, taints)
	})
}

func TestAllNodesLostAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client, pod := lonelyPod(t)
		for _, name := range []string{"node-1", "node-2"} {
			c.Kubelet().Lose(name)
		}
		pass(time.Hour)
		assert.Nil(t, podNamed(t, client, pod.Name).DeletionTimestamp, "it is not the nodes that fail, then")
		for _, name := range []string{"node-1", "node-2"} {
			ready, taints := readyAndTaints(nodeNamed(t, client, name))
			assert.Equal(t, "Unknown NodeStatusUnknown", ready)
			assert.Equal(t, []string{"node.kubernetes.io/unreachable:NoSchedule"}, taints)
		}
		for _, name := range []string{"node-1", "node-2"} {
			c.Kubelet().Restore(name)
		}
		pass(time.Minute)
		assert.True(t, core.PodReady(podNamed(t, client, pod.Name)))
	})
}
