package kubelet

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// field returns the value of a field of the pod that spec.containers[].env[].valueFrom.fieldRef may name.
func (s sources) field(path string) (string, error) {
	switch path {
	case "metadata.name":
		return s.pod.Name, nil
	case "metadata.namespace":
		return s.pod.Namespace, nil
	case "metadata.uid":
		return string(s.pod.UID), nil
	case "spec.nodeName":
		return s.pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return s.pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return s.podIP, nil
	case "status.hostIP", "status.hostIPs":
		return s.hostIP, nil
	}
	for prefix, from := range map[string]map[string]string{"metadata.labels": s.pod.Labels, "metadata.annotations": s.pod.Annotations} {
		if rest, found := strings.CutPrefix(path, prefix+"['"); found && strings.HasSuffix(rest, "']") {
			return from[strings.TrimSuffix(rest, "']")], nil
		}
	}
	return "", fmt.Errorf("unsupported fieldPath: %s", path)
}

// resource returns a limit or a request of a container as a whole number of the divisor, rounded up. The limit of a
// container that has none is what the node has to give.
func (s sources) resource(ref *corev1.ResourceFieldSelector, spec *corev1.Container) (string, error) {
	if ref.ContainerName != "" {
		spec = findContainer(s.pod, ref.ContainerName)
	}
	if spec == nil {
		return "", fmt.Errorf("container %s not found", ref.ContainerName)
	}
	which, name, _ := strings.Cut(ref.Resource, ".")
	var from corev1.ResourceList
	switch which {
	case "limits":
		from = spec.Resources.Limits
	case "requests":
		from = spec.Resources.Requests
	default:
		return "", fmt.Errorf("unsupported container resource : %s", ref.Resource)
	}
	amount, found := from[corev1.ResourceName(name)]
	if !found && which == "limits" {
		amount = s.allocatable[corev1.ResourceName(name)]
	}
	return quotient(amount, ref.Divisor, name == string(corev1.ResourceCPU)), nil
}

// quotient divides two quantities and rounds up. A divisor of zero stands for one.
func quotient(amount, divisor resource.Quantity, milli bool) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	above, below := float64(amount.Value()), float64(divisor.Value())
	if milli {
		above, below = float64(amount.MilliValue()), float64(divisor.MilliValue())
	}
	return strconv.FormatInt(int64(math.Ceil(above/below)), 10)
}

func findContainer(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
