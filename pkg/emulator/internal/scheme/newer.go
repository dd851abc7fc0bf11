package scheme

import (
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// NewerFields says which fields of a Go type came after Kubernetes 1.36, to which they are unknown.
type NewerFields struct {
	// Type is the struct type that has the fields.
	Type reflect.Type
	// Names are the JSON names of the fields.
	Names []string
}

// Model returns the name under which OpenAPI definitions hold the type, such as io.k8s.api.core.v1.PodSpec.
func (f NewerFields) Model() string {
	if named, ok := reflect.TypeAssert[interface{ OpenAPIModelName() string }](reflect.Zero(f.Type)); ok {
		return named.OpenAPIModelName()
	}
	return f.Type.PkgPath() + "." + f.Type.Name()
}

// newer is the difference between k8s.io/api v0.37 and v0.36 for the served types; apimachinery has none. Compare the
// two anew when k8s.io/api is raised. Not in the table, for it cannot be mended here: v0.37 also lost the alpha field
// "resources" of NodeAllocatableResourceClaimStatus in pod statuses, and "nodeAllocatableResourceMappings" of the Devices
// of resource.k8s.io/v1.
var newer = []NewerFields{
	field[batchv1.JobSpec]("scheduling"),
	field[corev1.PodSpec]("evictionResponders"),
	field[corev1.PodStatus]("volumeHealth"),
	field[corev1.NodeAllocatableResourceClaimStatus]("mapping", "overhead"),
	field[corev1.VolumeMount]("bindMountOptions"),
	field[corev1.HTTPGetAction]("protocol"),
	field[corev1.GRPCAction]("mode"),
	field[corev1.KeyToPath]("user"),
	field[corev1.DownwardAPIVolumeFile]("user"),
	field[corev1.ConfigMapVolumeSource]("defaultUser"),
	field[corev1.SecretVolumeSource]("defaultUser"),
	field[corev1.DownwardAPIVolumeSource]("defaultUser"),
	field[corev1.ProjectedVolumeSource]("defaultUser"),
	field[corev1.ClusterTrustBundleProjection]("user"),
	field[corev1.PodCertificateProjection]("user"),
	field[corev1.ServiceAccountTokenProjection]("user"),
	field[corev1.EmptyDirVolumeSource]("mode"),
	field[corev1.NodeSpec]("podPreemptionPolicy"),
	field[corev1.NodeSystemInfo]("runningInUserNamespace"),
	field[corev1.PersistentVolumeClaimStatus]("healthStatus"),
	field[autoscalingv2.HorizontalPodAutoscalerCondition]("observedGeneration"),
	field[resourcev1.Device]("nodeAllocatableResources"),
	field[resourcev1.DeviceCounterConsumption]("compatibilityGroups"),
	field[resourcev1.DeviceRequestAllocationResult]("skipNodeOperations"),
	field[resourcev1.DeviceSubRequest]("derivedAttributes"),
	field[resourcev1.ExactDeviceRequest]("derivedAttributes"),
	field[resourcev1.ResourceSliceSpec]("skipNodeOperations", "partitionTypeAttribute"),
}

func field[T any](names ...string) NewerFields {
	return NewerFields{Type: reflect.TypeFor[T](), Names: names}
}

// Newer returns the fields that the Go types have and Kubernetes 1.36 has not. OpenAPI documents must leave them out.
func Newer() []NewerFields {
	return slices.Clone(newer)
}

// NewerPaths returns the fields of [Newer] that an object of kind T can have, as dotted paths from its root, with []
// for the elements of lists, sorted.
func NewerPaths[T any]() []string {
	var paths []string
	collectPaths(planOf(reflect.TypeFor[T]()), "", &paths)
	slices.Sort(paths)
	return paths
}

func collectPaths(p *plan, path string, into *[]string) {
	if p == nil {
		return
	}
	if p.elem != nil {
		collectPaths(p.elem, path+"[]", into)
		return
	}
	for name := range p.newer {
		*into = append(*into, strings.TrimPrefix(path+"."+name, "."))
	}
	for name, child := range p.older {
		collectPaths(child.plan, path+"."+name, into)
	}
}
