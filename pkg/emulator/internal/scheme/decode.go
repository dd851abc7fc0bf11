package scheme

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

// requestSerializer is a codec factory whose strict decoders know which fields are newer than Kubernetes 1.36. Lenient
// ones need not: the defaults that follow every decoding empty the fields.
type requestSerializer struct {
	serializer.CodecFactory
	mediaTypes []runtime.SerializerInfo
}

var _ runtime.NegotiatedSerializer = requestSerializer{}

func newRequestSerializer(codecs serializer.CodecFactory, types *runtime.Scheme) requestSerializer {
	s := requestSerializer{CodecFactory: codecs}
	for _, info := range codecs.SupportedMediaTypes() {
		// Protobuf numbers its fields and passes over numbers that it does not know: there is no strict way to read it.
		switch info.MediaType {
		case runtime.ContentTypeJSON:
			info.StrictSerializer = strictSerializer{Serializer: info.StrictSerializer, quick: newQuickDecoder(types)}
		case runtime.ContentTypeYAML:
			info.StrictSerializer = strictSerializer{Serializer: info.StrictSerializer, yaml: true}
		}
		s.mediaTypes = append(s.mediaTypes, info)
	}
	return s
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s requestSerializer) SupportedMediaTypes() []runtime.SerializerInfo {
	return s.mediaTypes
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s requestSerializer) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return requestDecoder{s.CodecFactory.DecoderToVersion(decoder, version)}
}

// requestDecoder words the refusal of an object of the wrong kind as a server does whose internal types are types of
// their own, such as core.Pod for v1.Pod: the names show in the message.
type requestDecoder struct{ runtime.Decoder }

const unknownConversion = ": unknown conversion"

// Decode implements runtime.Decoder.
func (d requestDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := d.Decoder.Decode(data, defaults, into)
	if err == nil || into == nil || !strings.HasSuffix(err.Error(), unknownConversion) {
		return obj, kind, err
	}
	t := reflect.TypeOf(into).Elem()
	external := fmt.Sprintf("to (%s)", t)
	// The package of the internal type is named after the group: k8s.io/api/GROUP/VERSION.
	internal := fmt.Sprintf("to (%s.%s)", path.Base(path.Dir(t.PkgPath())), t.Name())
	return obj, kind, errors.New(strings.Replace(err.Error(), external, internal, 1))
}

// strictSerializer adds newer fields to the unknown ones that a strict serializer reports.
type strictSerializer struct {
	runtime.Serializer
	// quick decodes as Serializer does, in less time, but may find other words for what is no JSON. Nil if there is none.
	quick runtime.Decoder
	yaml  bool
}

// Decode implements runtime.Decoder. As with every strict decoder, an object may come with an error that is no more
// than a list of complaints.
func (s strictSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := s.decode(data, defaults, into)
	if err != nil && into != nil && !runtime.IsStrictDecodingError(err) {
		// It may be a newer field that has a value it cannot have. An unknown field can have any.
		if lean := s.withoutNewer(data, into); lean != nil {
			obj, kind, err = s.Serializer.Decode(lean, defaults, into)
		}
	}
	if obj == nil {
		return obj, kind, err
	}
	var complaints []error
	if err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return obj, kind, err
		}
		complaints = strict.Errors()
	}
	unknown, findErr := s.newerFields(data, obj)
	if findErr != nil {
		return obj, kind, findErr
	}
	for _, path := range unknown {
		complaints = append(complaints, fmt.Errorf("unknown field %q", path))
	}
	if len(complaints) == 0 {
		return obj, kind, nil
	}
	return obj, kind, runtime.NewStrictDecodingError(complaints)
}

// decode decodes an object without regard to newer fields.
func (s strictSerializer) decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if s.quick != nil {
		obj, kind, err := s.quick.Decode(data, defaults, into)
		if err == nil || runtime.IsStrictDecodingError(err) {
			return obj, kind, err
		}
	}
	return s.Serializer.Decode(data, defaults, into)
}

// withoutNewer returns data, an object of the kind of obj, as JSON without newer fields; nil if it has none.
func (s strictSerializer) withoutNewer(data []byte, obj runtime.Object) []byte {
	if planOf(reflect.TypeOf(obj).Elem()) == nil || !mentionsNewer(data, s.yaml) {
		return nil
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(data, &content, func(d *json.Decoder) *json.Decoder { d.UseNumber(); return d }); err != nil {
		return nil
	}
	if len(RemoveNewerFields(obj, content)) == 0 {
		return nil
	}
	lean, err := json.Marshal(content)
	if err != nil {
		return nil
	}
	return lean
}

// newerFields returns the paths of the newer fields that data names, whatever their value, in the order of data.
func (s strictSerializer) newerFields(data []byte, obj runtime.Object) ([]string, error) {
	p := planOf(reflect.TypeOf(obj).Elem())
	if p == nil || !mentionsNewer(data, s.yaml) {
		return nil, nil
	}
	if s.yaml {
		asJSON, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		data = asJSON
	}
	finder := newerFinder{tokens: json.NewDecoder(bytes.NewReader(data)), seen: map[string]bool{}}
	if err := finder.value(p, ""); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return finder.found, nil
}

// mentionsNewer spares most requests the closer look: it tells whether any of the names occurs at all. In JSON a name
// ends with a quotation mark.
func mentionsNewer(data []byte, yaml bool) bool {
	for _, name := range newerNames() {
		if yaml {
			name = name[:len(name)-1]
		}
		if bytes.Contains(data, name) {
			return true
		}
	}
	return false
}

// newerNames are the names of all newer fields, each with the quotation mark that ends it in JSON.
var newerNames = sync.OnceValue(func() [][]byte {
	var names []string
	for _, fields := range newer {
		names = append(names, fields.Names...)
	}
	slices.Sort(names)
	var quoted [][]byte
	for _, name := range slices.Compact(names) {
		quoted = append(quoted, []byte(name+`"`))
	}
	return quoted
})

// newerFinder reads JSON token by token, alongside the plan of its type.
type newerFinder struct {
	tokens *json.Decoder
	found  []string
	seen   map[string]bool
}

// value reads one value, which p describes (nil: nothing of interest in it) and which stands at path.
func (f *newerFinder) value(p *plan, path string) error {
	if p == nil {
		var passed json.RawMessage
		return f.tokens.Decode(&passed)
	}
	token, err := f.tokens.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		for f.tokens.More() {
			if err := f.field(p, path); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for i := 0; f.tokens.More(); i++ {
			if err := f.value(p.elem, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = f.tokens.Token() // The bracket that closes.
	return err
}

// field reads one name and its value of an object.
func (f *newerFinder) field(p *plan, path string) error {
	token, err := f.tokens.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	if path != "" {
		path += "."
	}
	path += name
	if _, ok := p.newer[name]; ok {
		if !f.seen[path] {
			f.seen[path] = true
			f.found = append(f.found, path)
		}
		return f.value(nil, path)
	}
	return f.value(p.older[name].plan, path)
}
