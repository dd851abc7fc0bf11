package node

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	info, addresses := corev1.NodeSystemInfo{}.SwaggerDoc(), corev1.NodeStatus{}.SwaggerDoc()["addresses"]
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Status", "The status of the node"),
		resource.Column("Roles", "The roles of the node"),
		resource.AgeColumn(),
		resource.Column("Version", info["kubeletVersion"]),
		resource.WideColumn("Internal-IP", addresses),
		resource.WideColumn("External-IP", addresses),
		resource.WideColumn("OS-Image", info["osImage"]),
		resource.WideColumn("Kernel-Version", info["kernelVersion"]),
		resource.WideColumn("Container-Runtime", info["containerRuntimeVersion"]),
	}, func(node *corev1.Node) resource.Row {
		info := node.Status.NodeInfo
		kernel := cmp.Or(info.KernelVersion, "<unknown>")
		if info.Architecture != "" {
			kernel += " (" + info.Architecture + ")"
		}
		return resource.Row{Cells: []any{
			node.Name, status(node), resource.OrNone(strings.Join(roles(node), ",")), resource.Since(now, node.CreationTimestamp.Time), info.KubeletVersion,
			address(node, corev1.NodeInternalIP), address(node, corev1.NodeExternalIP),
			cmp.Or(info.OSImage, "<unknown>"), kernel, cmp.Or(info.ContainerRuntimeVersion, "<unknown>"),
		}}
	})
}

// status says whether the node is ready and whether it takes pods.
func status(node *corev1.Node) string {
	text := "Unknown"
	for _, condition := range node.Status.Conditions {
		switch {
		case condition.Type != corev1.NodeReady:
		case condition.Status == corev1.ConditionTrue:
			text = "Ready"
		default:
			text = "NotReady"
		}
	}
	if node.Spec.Unschedulable {
		text += ",SchedulingDisabled"
	}
	return text
}

// roles reads the two forms of labels that name a node's roles.
func roles(node *corev1.Node) []string {
	var found []string
	for key, value := range node.Labels {
		if role, ok := strings.CutPrefix(key, "node-role.kubernetes.io/"); ok && role != "" {
			found = append(found, role)
		}
		if key == "kubernetes.io/role" && value != "" {
			found = append(found, value)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func address(node *corev1.Node, kind corev1.NodeAddressType) string {
	for _, address := range node.Status.Addresses {
		if address.Type == kind {
			return address.Address
		}
	}
	return "<none>"
}
