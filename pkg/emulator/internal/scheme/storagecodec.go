package scheme

import (
	"bytes"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

// StorageCodec returns the codec that writes the objects of gv to storage as protobuf and reads them back. As in
// Kubernetes, reading applies the defaults again.
func (s *Scheme) StorageCodec(gv schema.GroupVersion) runtime.Codec {
	return storageCodec{
		Codec:   s.Codecs.CodecForVersions(s.protobuf, s.Codecs.UniversalDeserializer(), gv, gv),
		scheme:  s.Scheme,
		version: gv,
	}
}

// storageCodec leaves kind and version of what it reads empty, as those of internal objects are. They would show on the
// items of lists otherwise.
type storageCodec struct {
	runtime.Codec
	scheme  *runtime.Scheme
	version schema.GroupVersion
}

// Decode implements runtime.Decoder. It comes early in the goroutines that update an object and in those that decode an
// event of a watch.
func (c storageCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	stack.Reserve()
	obj, kind, ok := c.decodeOwn(data, into)
	if !ok {
		var err error
		if obj, kind, err = c.Codec.Decode(data, defaults, into); err != nil {
			return obj, kind, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj, kind, nil
}

// protobufMagic begins all that Kubernetes writes as protobuf; a runtime.Unknown follows.
var protobufMagic = []byte("k8s\x00")

// envelopes holds *runtime.Unknown with room for an object, which is copied there on the way.
var envelopes = sync.Pool{New: func() any { return new(runtime.Unknown) }}

// decodeOwn reads what this codec has written: all that there is to read, as a rule, and what a server does more often
// than anything else. The way through the general codec takes a copy more and several looks at what kind of data it may
// be. It returns false for anything unusual, which it leaves to that codec.
func (c storageCodec) decodeOwn(data []byte, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, bool) {
	message, isProtobuf := bytes.CutPrefix(data, protobufMagic)
	if !isProtobuf {
		return nil, nil, false
	}
	envelope := envelopes.Get().(*runtime.Unknown)
	defer envelopes.Put(envelope)
	*envelope = runtime.Unknown{Raw: envelope.Raw[:0]}
	if err := envelope.Unmarshal(message); err != nil {
		return nil, nil, false
	}
	kind := schema.FromAPIVersionAndKind(envelope.APIVersion, envelope.Kind)
	obj := c.instance(kind, into)
	target, isMessage := obj.(interface {
		Reset()
		Unmarshal(data []byte) error
	})
	if !isMessage {
		return nil, nil, false
	}
	target.Reset()
	if err := target.Unmarshal(envelope.Raw); err != nil {
		return nil, nil, false
	}
	c.scheme.Default(obj)
	return obj, &kind, true
}

// instance returns into, or something new if there is none; nil if the kind is not of the codec's version, or not into's.
func (c storageCodec) instance(kind schema.GroupVersionKind, into runtime.Object) runtime.Object {
	t, known := c.scheme.AllKnownTypes()[kind]
	if !known || kind.GroupVersion() != c.version {
		return nil
	}
	if into == nil {
		into, _ = reflect.TypeAssert[runtime.Object](reflect.New(t))
	}
	if reflect.TypeOf(into) != reflect.PointerTo(t) {
		return nil
	}
	return into
}
