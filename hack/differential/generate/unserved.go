package generate

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// unserved are the types of the fields behind gates that Kubernetes 1.36 leaves off, and that this library has no switch
// for. A server drops them from what is sent; none of its objects has them.
var unserved = []reflect.Type{
	reflect.TypeFor[*corev1.ClusterTrustBundleProjection](), // ClusterTrustBundleProjection
	reflect.TypeFor[*corev1.PodCertificateProjection](),     // PodCertificateRequest
	reflect.TypeFor[*corev1.Signal](),                       // ContainerStopSignals
	reflect.TypeFor[*corev1.VolumeStatus](),                 // ImageVolumeWithDigest
	reflect.TypeFor[[]corev1.NodeAllocatableResourceClaimStatus](),
}

// DropUnserved removes from an object what no server of Kubernetes 1.36 has stored in it.
func DropUnserved(pointer any) { dropUnserved(reflect.ValueOf(pointer)) }

func dropUnserved(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			dropUnserved(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			dropUnserved(value.Index(i))
		}
	case reflect.Struct:
		for _, field := range value.Fields() {
			switch {
			case !field.CanSet():
			case slices.Contains(unserved, field.Type()):
				field.SetZero()
			default:
				dropUnserved(field)
			}
		}
	}
}
