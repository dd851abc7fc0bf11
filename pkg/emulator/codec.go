package emulator

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindless is a storage codec whose objects do not say what kind they are, as internal objects never do. Kubernetes gets
// that by conversion, which the emulator does without; and the difference shows, in the items of lists.
type kindless struct {
	runtime.Codec
}

// Decode implements runtime.Decoder.
func (k kindless) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := k.Codec.Decode(data, defaults, into)
	if err == nil {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return obj, kind, err
}
