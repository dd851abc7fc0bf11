package scheme

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// same lists labels that selectors may name and that the stored object knows by the same name.
func same(names ...string) map[string]string {
	labels := make(map[string]string, len(names))
	for _, name := range names {
		labels[name] = name
	}
	return labels
}

// fieldLabels holds, for each kind with field selectors of its own, the labels that a request may name, with the name
// that the object's strategy gives the value. Kinds that are not listed can be selected by name and namespace.
var fieldLabels = map[schema.GroupVersionKind]map[string]string{
	corev1.SchemeGroupVersion.WithKind("Pod"): podLabels(),
	corev1.SchemeGroupVersion.WithKind("Node"): same(
		"metadata.name", "spec.unschedulable"),
	corev1.SchemeGroupVersion.WithKind("Namespace"): same(
		"metadata.name", "status.phase"),
	corev1.SchemeGroupVersion.WithKind("ReplicationController"): same(
		"metadata.name", "metadata.namespace", "status.replicas"),
	corev1.SchemeGroupVersion.WithKind("Service"): same(
		"metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type"),
	corev1.SchemeGroupVersion.WithKind("Secret"): same(
		"metadata.name", "metadata.namespace", "type"),
	certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"): same(
		"metadata.name", "spec.signerName"),
	corev1.SchemeGroupVersion.WithKind("Event"): same(
		"metadata.name", "metadata.namespace", "reason", "reportingComponent", "source", "type",
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath"),
	eventsv1.SchemeGroupVersion.WithKind("Event"): {
		"metadata.name":             "metadata.name",
		"metadata.namespace":        "metadata.namespace",
		"reason":                    "reason",
		"type":                      "type",
		"reportingController":       "reportingComponent",
		"regarding.kind":            "involvedObject.kind",
		"regarding.namespace":       "involvedObject.namespace",
		"regarding.name":            "involvedObject.name",
		"regarding.uid":             "involvedObject.uid",
		"regarding.apiVersion":      "involvedObject.apiVersion",
		"regarding.resourceVersion": "involvedObject.resourceVersion",
		"regarding.fieldPath":       "involvedObject.fieldPath",
	},
}

// podLabels are the field labels of pods. The oldest clients say spec.host for spec.nodeName.
func podLabels() map[string]string {
	labels := same("metadata.name", "metadata.namespace",
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName")
	labels["spec.host"] = "spec.nodeName"
	return labels
}

// registerFieldLabels registers which labels field selectors may name; a request that names another is refused with
// status 400.
func registerFieldLabels(s *runtime.Scheme) error {
	for kind, labels := range fieldLabels {
		if err := s.AddFieldLabelConversionFunc(kind, func(label, value string) (string, string, error) {
			if name, ok := labels[label]; ok {
				return name, value, nil
			}
			return "", "", fmt.Errorf("field label not supported: %s", label)
		}); err != nil {
			return err
		}
	}
	// Two kinds word the refusal differently.
	slices := resourcev1.SchemeGroupVersion.WithKind("ResourceSlice")
	if err := s.AddFieldLabelConversionFunc(slices, func(label, value string) (string, string, error) {
		switch label {
		case "metadata.name", resourcev1.ResourceSliceSelectorNodeName, resourcev1.ResourceSliceSelectorDriver:
			return label, value, nil
		}
		return "", "", fmt.Errorf("field label not supported for %s: %s", slices, label)
	}); err != nil {
		return err
	}
	jobs := same("metadata.name", "metadata.namespace", "status.successful")
	return s.AddFieldLabelConversionFunc(batchv1.SchemeGroupVersion.WithKind("Job"), func(label, value string) (string, string, error) {
		if name, ok := jobs[label]; ok {
			return name, value, nil
		}
		return "", "", fmt.Errorf("field label %q not supported for Job", label)
	})
}
