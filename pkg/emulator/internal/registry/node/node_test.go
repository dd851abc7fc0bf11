package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func nodes(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("nodes"), "")
}

func makeNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Phase: corev1.NodeRunning}}
}

func get(t *testing.T, client registrytest.Client) *corev1.Node {
	t.Helper()
	obj, err := client.Get("n")
	require.NoError(t, err)
	return obj.(*corev1.Node)
}

func TestSpecAndStatusAreWrittenApart(t *testing.T) {
	client := nodes(t)
	_, err := client.Create(makeNode())
	require.NoError(t, err)
	assert.Equal(t, corev1.NodeRunning, get(t, client).Status.Phase, "kubelets register with a status")

	change := func(obj runtime.Object) {
		node := obj.(*corev1.Node)
		node.Spec.Unschedulable = true
		node.Status.Phase = corev1.NodeTerminated
		node.Labels = map[string]string{"a": "b"}
	}
	_, err = client.Update("n", "", change)
	require.NoError(t, err)
	assert.True(t, get(t, client).Spec.Unschedulable)
	assert.Equal(t, corev1.NodeRunning, get(t, client).Status.Phase)

	_, err = client.Update("n", "status", func(obj runtime.Object) {
		change(obj)
		obj.(*corev1.Node).Spec.Unschedulable = false
	})
	require.NoError(t, err)
	assert.True(t, get(t, client).Spec.Unschedulable)
	assert.Equal(t, corev1.NodeTerminated, get(t, client).Status.Phase)
}

func TestValidation(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(node *corev1.Node)
		wantErr string
	}{
		"a plain node": {change: func(*corev1.Node) {}},
		"a taint twice": {
			change: func(node *corev1.Node) {
				taint := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoSchedule}
				node.Spec.Taints = []corev1.Taint{taint, {Key: "a", Effect: corev1.TaintEffectNoExecute}, taint}
			},
			wantErr: "metadata.taints[2]: Duplicate value",
		},
		"a taint without effect": {
			change:  func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{{Key: "a"}} },
			wantErr: "metadata.taints[0].effect: Required value",
		},
		"a taint with an effect of its own": {
			change:  func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{{Key: "a", Effect: "Explode"}} },
			wantErr: `metadata.taints[0].effect: Unsupported value: "Explode"`,
		},
		"less than nothing": {
			change: func(node *corev1.Node) {
				node.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")}
			},
			wantErr: `status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0`,
		},
		"half a card": {
			change: func(node *corev1.Node) {
				node.Status.Allocatable = corev1.ResourceList{"example.com/card": resource.MustParse("500m"), corev1.ResourceCPU: resource.MustParse("500m")}
			},
			wantErr: `status.allocatable.example.com/card: Invalid value: "500m": must be an integer`,
		},
		"two networks of one family": {
			change:  func(node *corev1.Node) { node.Spec.PodCIDRs = []string{"10.0.0.0/24", "10.0.1.0/24"} },
			wantErr: "may specify no more than one CIDR for each IP family",
		},
		"no network at all": {
			change:  func(node *corev1.Node) { node.Spec.PodCIDRs = []string{"here"} },
			wantErr: "spec.podCIDRs[0]: Invalid value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := makeNode()
			tc.change(node)
			_, err := nodes(t).Create(node)
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
}

func TestWhatIsSetOnceStays(t *testing.T) {
	client := nodes(t)
	node := makeNode()
	node.Spec.ProviderID, node.Spec.PodCIDRs = "a", []string{"10.0.0.0/24"}
	_, err := client.Create(node)
	require.NoError(t, err)
	_, err = client.Update("n", "", func(obj runtime.Object) {
		obj.(*corev1.Node).Spec.ProviderID = "b"
		obj.(*corev1.Node).Spec.PodCIDRs = nil
		obj.(*corev1.Node).Spec.PodCIDR = ""
	})
	assert.ErrorContains(t, err, "spec.providerID: Forbidden")
	assert.ErrorContains(t, err, "spec.podCIDRs: Forbidden")
}

func TestSelectUnschedulable(t *testing.T) {
	client := nodes(t)
	_, err := client.Create(makeNode())
	require.NoError(t, err)
	list, err := client.List(fields.ParseSelectorOrDie("spec.unschedulable=true"))
	require.NoError(t, err)
	assert.Empty(t, list.(*corev1.NodeList).Items)
}

func TestTable(t *testing.T) {
	client := nodes(t)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{
			"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "worker",
		}},
		Spec: corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.36.3", KernelVersion: "6.1", Architecture: "amd64"},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
		},
	}
	assert.Equal(t, []any{
		"n", "Ready,SchedulingDisabled", "control-plane,worker", "<unknown>", "v1.36.3",
		"10.0.0.1", "<none>", "<unknown>", "6.1 (amd64)", "<unknown>",
	}, client.Table(node).Rows[0].Cells)
	assert.Equal(t, []any{"n", "Unknown", "<none>"}, client.Table(makeNode()).Rows[0].Cells[:3])
}
