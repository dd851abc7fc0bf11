package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

// topologyLabels is the plugin PodTopologyLabels.
type topologyLabels struct {
	*admission.Handler
	read reader
}

var _ admission.MutationInterface = topologyLabels{}

func newTopologyLabels(read reader) topologyLabels {
	return topologyLabels{admission.NewHandler(admission.Create), read}
}

// Admit implements admission.MutationInterface. A Binding hands its labels on to its pod; a pod may also name its node
// from the start.
func (p topologyLabels) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("pods") {
		return nil
	}
	switch obj := a.GetObject().(type) {
	case *corev1.Pod:
		if a.GetSubresource() == "" && obj.Spec.NodeName != "" {
			return p.label(ctx, &obj.ObjectMeta, obj.Spec.NodeName)
		}
	case *corev1.Binding:
		if obj.Target.Kind == "Node" {
			return p.label(ctx, &obj.ObjectMeta, obj.Target.Name)
		}
	}
	return nil
}

// label copies the node's labels. Pods can be bound to nodes that nobody knows; those give nothing.
func (p topologyLabels) label(ctx context.Context, meta *metav1.ObjectMeta, nodeName string) error {
	obj, err := p.read.get(ctx, corev1.SchemeGroupVersion.WithResource("nodes"), "", nodeName)
	if apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		value, ok := obj.(*corev1.Node).Labels[key]
		if !ok {
			continue
		}
		if meta.Labels == nil {
			meta.Labels = map[string]string{}
		}
		meta.Labels[key] = value
	}
	return nil
}
