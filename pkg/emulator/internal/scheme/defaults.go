package scheme

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// registerDefaults registers what happens to every object that is decoded, from a request or from storage: fields that
// Kubernetes 1.36 does not know go, aliases are resolved, empty fields get their defaults. Workload and PodGroup bring
// their own defaults along; ConfigMap, ServiceAccount, Lease and Event have none.
func registerDefaults(s *runtime.Scheme) {
	addDefaults(s, func(pod *corev1.Pod) {
		prune(pod)
		resolvePodAliases(pod)
		core.SetPodDefaults(pod)
	})
	addDefaults(s, func(job *batchv1.Job) {
		prune(job)
		resolvePodSpecAliases(&job.Spec.Template.Spec)
		batch.SetDefaults(job)
	})
	addDefaults(s, func(node *corev1.Node) {
		prune(node)
		resolveNodeAliases(node)
		if node.Status.Allocatable == nil && node.Status.Capacity != nil {
			node.Status.Allocatable = node.Status.Capacity.DeepCopy()
		}
	})
	registerAdmissionDefaults(s)
	addDefaults(s, setNamespaceDefaults)
	addDefaults(s, setSecretDefaults)
	registerAccessDefaults(s)
	addDefaults(s, func(class *schedulingv1.PriorityClass) {
		if class.PreemptionPolicy == nil {
			class.PreemptionPolicy = new(corev1.PreemptLowerPriority)
		}
	})
}

// addDefaults registers set for the type that it takes.
func addDefaults[T any, P interface {
	*T
	runtime.Object
}](s *runtime.Scheme, set func(P)) {
	s.AddTypeDefaultingFunc(P(new(T)), func(obj any) { set(obj.(P)) })
}

// setNamespaceDefaults labels a namespace with its own name. One that is still to be named gets the label when its
// strategy makes it canonical.
func setNamespaceDefaults(namespace *corev1.Namespace) {
	if namespace.Name != "" {
		if namespace.Labels == nil {
			namespace.Labels = map[string]string{}
		}
		namespace.Labels[corev1.LabelMetadataName] = namespace.Name
	}
	if namespace.Status.Phase == "" {
		namespace.Status.Phase = corev1.NamespaceActive
	}
}

// setSecretDefaults moves stringData, which is for writing only, into data, over what stands there.
func setSecretDefaults(secret *corev1.Secret) {
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
}

// resolvePodAliases brings the fields of a pod that are kept under two names in line.
func resolvePodAliases(pod *corev1.Pod) {
	resolvePodSpecAliases(&pod.Spec)
	if period := pod.Spec.TerminationGracePeriodSeconds; period != nil && *period < 0 {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	status := &pod.Status
	if status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP) {
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
	if len(status.PodIPs) > 0 {
		status.PodIP = status.PodIPs[0].IP
	}
}

// resolvePodSpecAliases fills in spec.serviceAccount, the deprecated name of spec.serviceAccountName; the latter wins.
func resolvePodSpecAliases(spec *corev1.PodSpec) {
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = spec.DeprecatedServiceAccount
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
}

// resolveNodeAliases keeps spec.podCIDR and the first of spec.podCIDRs equal; the singular wins.
func resolveNodeAliases(node *corev1.Node) {
	spec := &node.Spec
	if spec.PodCIDR != "" && (len(spec.PodCIDRs) == 0 || spec.PodCIDRs[0] != spec.PodCIDR) {
		spec.PodCIDRs = []string{spec.PodCIDR}
	}
	if len(spec.PodCIDRs) > 0 {
		spec.PodCIDR = spec.PodCIDRs[0]
	}
}
