package plain

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the service of the API has for itself: the first address of the range, and the port that a kube-apiserver listens
// on unless told otherwise.
const (
	apiAddress = "10.96.0.1"
	apiPort    = 6443
)

// APIService returns the service by which pods reach the API server: kubernetes in namespace default, which every cluster
// has from the start. It is complete but for what the storage gives every service.
func APIService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: "kubernetes",
			Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: apiAddress,
			Ports: []corev1.ServicePort{{
				Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(apiPort),
			}},
			SessionAffinity:       corev1.ServiceAffinityNone,
			IPFamilyPolicy:        new(corev1.IPFamilyPolicySingleStack),
			InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicyCluster),
		},
	}
}
