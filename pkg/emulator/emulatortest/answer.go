package emulatortest

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"
)

// answer is what is of interest in the body of an answer.
type answer struct {
	name, resourceVersion string // of an object
	message               string // of a Status
}

// parseAnswer reads how a body begins, in JSON or in the protobuf of Kubernetes, as far as it goes.
func parseAnswer(body []byte) answer {
	var found answer
	if message, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		found.fromProtobuf(message)
		return found
	}
	// The error is that the body ends early or is no JSON.
	_ = walk(json.NewDecoder(bytes.NewReader(body)), "", found.take)
	return found
}

func (a *answer) take(path, value string) {
	switch path {
	case ".metadata.name":
		a.name = value
	case ".metadata.resourceVersion":
		a.resourceVersion = value
	case ".message":
		a.message = value
	}
}

// walk hands over every string of a JSON value with the keys that lead to it.
func walk(decoder *json.Decoder, path string, take func(path, value string)) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case string:
		take(path, token)
	case json.Delim:
		for decoder.More() {
			child := path + "[]"
			if token == '{' {
				key, err := decoder.Token()
				if err != nil {
					return err
				}
				name, _ := key.(string) // the keys of JSON are nothing else
				child = path + "." + name
			}
			if err := walk(decoder, child, take); err != nil {
				return err
			}
		}
		_, err = decoder.Token() // the end of the object or list
	}
	return err
}

// The fields of the messages runtime.Unknown, ObjectMeta and Status, as the .proto files of k8s.io/apimachinery number them.
const (
	unknownRaw              = 2
	objectMetadata          = 1
	statusMessage           = 3
	metadataName            = 1
	metadataResourceVersion = 6
)

// fromProtobuf reads a runtime.Unknown and the object in it. An object that is no Status may have a field 3 too, such as
// its own status, which is no use as a message: refusals alone have metadata without a name.
func (a *answer) fromProtobuf(message []byte) {
	for number, object := range fields(message) {
		if number != unknownRaw {
			continue
		}
		for number, value := range fields(object) {
			switch {
			case number == objectMetadata:
				for number, value := range fields(value) {
					switch number {
					case metadataName:
						a.name = string(value)
					case metadataResourceVersion:
						a.resourceVersion = string(value)
					}
				}
			case number == statusMessage && a.name == "":
				a.message = string(value)
			}
		}
	}
}

// fields goes through the fields of a message that hold bytes: texts and other messages. The last one of a message that was
// cut off is as long as what is left.
func fields(message []byte) func(yield func(number protowire.Number, value []byte) bool) {
	return func(yield func(protowire.Number, []byte) bool) {
		for len(message) > 0 {
			number, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				return
			}
			message = message[n:]
			if kind != protowire.BytesType {
				if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
					return
				}
				message = message[n:]
				continue
			}
			length, n := protowire.ConsumeVarint(message)
			if n < 0 {
				return
			}
			message = message[n:]
			size := int(min(length, uint64(len(message))))
			if !yield(number, message[:size]) {
				return
			}
			message = message[size:]
		}
	}
}
