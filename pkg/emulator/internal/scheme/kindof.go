package scheme

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// newQuickDecoder returns a strict decoder of JSON that finds out what it reads by a glance.
func newQuickDecoder(types *runtime.Scheme) runtime.Decoder {
	return json.NewSerializerWithOptions(quickKinds{json.DefaultMetaFactory}, types, types, json.SerializerOptions{Strict: true})
}

// quickKinds finds the kind of an object in JSON. The library reads the whole document as JSON for that, and then once
// more; here it is passed over, and whether it is JSON at all is left to the second reading.
type quickKinds struct{ json.MetaFactory }

// Interpret implements json.MetaFactory.
func (k quickKinds) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	apiVersion, kind, found := kindIn(data)
	if !found {
		return k.MetaFactory.Interpret(data)
	}
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	return &schema.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind}, nil
}

// kindIn returns what stands at apiVersion and kind in the object that data holds. It returns false if it is not sure: if
// one is missing, is there twice or in other letters, which JSON in Go does not mind, or is written with escapes.
func kindIn(data []byte) (apiVersion, kind string, found bool) {
	rest := bytes.TrimLeft(data, " \t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return "", "", false
	}
	depth, key := 1, true // in how many objects and lists, and whether a key comes next
	for at := 1; at < len(rest); at++ {
		switch rest[at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			text, plain := stringAt(rest[at:])
			at += len(text) + 1
			if !key {
				continue
			}
			key = false
			value := &kind
			switch {
			case !plain:
				return "", "", false
			case bytes.EqualFold(text, []byte("apiVersion")):
				value = &apiVersion
			case !bytes.EqualFold(text, []byte("kind")):
				continue
			}
			said, end, ok := valueAfter(rest[min(at+1, len(rest)):])
			if exact := string(text) == "kind" || string(text) == "apiVersion"; !exact || !ok || *value != "" {
				return "", "", false
			}
			*value, at = said, at+end
		}
	}
	return apiVersion, kind, apiVersion != "" && kind != ""
}

// stringAt returns what is between the quotation mark at the beginning of data and the one that ends the string, and
// whether it is ASCII without escapes. It is all that is left if no mark ends it.
func stringAt(data []byte) (text []byte, plain bool) {
	plain = true
	for at := 1; at < len(data); at++ {
		switch c := data[at]; {
		case c == '"':
			return data[1:at], plain
		case c == '\\':
			plain = false
			at++
		case c < ' ' || c > '~':
			plain = false
		}
	}
	return data[1:], false
}

// valueAfter returns the string that is the value of the key that data follows on, and how far it reaches.
func valueAfter(data []byte) (value string, end int, ok bool) {
	before := bytes.IndexByte(data, '"')
	if before < 0 || string(bytes.TrimSpace(data[:before])) != ":" {
		return "", 0, false
	}
	text, plain := stringAt(data[before:])
	return string(text), before + len(text) + 2, plain && len(text) > 0
}
