package objects

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Object is the metadata of a stored object, with its kind.
type Object struct {
	metav1.PartialObjectMetadata
	// Revision is that of the store at which the object was written or, for one that is gone, removed.
	Revision int64
}

// Kind returns the object's group, version and kind, as stored.
func (o *Object) Kind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.APIVersion, o.PartialObjectMetadata.Kind)
}

// UID returns the UID of an object in its stored form, and nothing for what is no object.
func UID(value []byte) types.UID {
	object, err := decode(value, 0)
	if err != nil {
		return ""
	}
	return object.UID
}

// protobufPrefix begins every value that is stored in the protobuf encoding of Kubernetes.
var protobufPrefix = []byte("k8s\x00")

// decode reads the metadata of a stored value. All kinds have it as the same field, so that the rest is skipped.
func decode(value []byte, revision int64) (*Object, error) {
	object := &Object{Revision: revision}
	if !bytes.HasPrefix(value, protobufPrefix) {
		if err := json.Unmarshal(value, &object.PartialObjectMetadata); err != nil {
			return nil, fmt.Errorf("decoding JSON: %w", err)
		}
		return object, nil
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(value[len(protobufPrefix):]); err != nil {
		return nil, fmt.Errorf("decoding the protobuf envelope: %w", err)
	}
	if err := object.Unmarshal(envelope.Raw); err != nil {
		return nil, fmt.Errorf("decoding the metadata of a %s: %w", envelope.Kind, err)
	}
	object.APIVersion, object.PartialObjectMetadata.Kind = envelope.APIVersion, envelope.Kind
	return object, nil
}
