package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// machinery is where the types live that internal and external ones share.
const machinery = "k8s.io/apimachinery/"

// internalJSON prints a pod spec as the message of a refused update shows it: kube-apiserver compares the JSON of its
// internal types, which have no JSON names, leave nothing out and keep the host's namespaces in the security context.
// Those types are not to be had outside it; all but three have the fields of the external ones in the same order.
func internalJSON(spec *corev1.PodSpec) json.RawMessage {
	var out bytes.Buffer
	writeInternal(&out, reflect.ValueOf(spec))
	return out.Bytes()
}

func writeInternal(out *bytes.Buffer, value reflect.Value) {
	if value.Kind() != reflect.Pointer && strings.HasPrefix(value.Type().PkgPath(), machinery) {
		// Quantities, selectors and the like are the same types in both.
		text, err := json.Marshal(value.Interface())
		if err == nil {
			out.Write(text)
			return
		}
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			out.WriteString("null")
			return
		}
		writeInternal(out, value.Elem())
	case reflect.Struct:
		writeInternalStruct(out, value)
	case reflect.Slice:
		if value.IsNil() {
			out.WriteString("null")
			return
		}
		writeAll(out, '[', ']', value.Len(), func(i int) { writeInternal(out, value.Index(i)) })
	case reflect.Map:
		if value.IsNil() {
			out.WriteString("null")
			return
		}
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		writeAll(out, '{', '}', len(keys), func(i int) {
			writeScalar(out, keys[i].String())
			out.WriteByte(':')
			writeInternal(out, value.MapIndex(keys[i]))
		})
	default:
		writeScalar(out, value.Interface())
	}
}

func writeAll(out *bytes.Buffer, open, end byte, n int, write func(int)) {
	out.WriteByte(open)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		write(i)
	}
	out.WriteByte(end)
}

// writeScalar prints a string, a number or a boolean: what json.Marshal cannot fail on.
func writeScalar(out *bytes.Buffer, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null")
	}
	out.Write(text)
}

func writeInternalStruct(out *bytes.Buffer, value reflect.Value) {
	writeFields(out, internalFields(value))
}

func writeFields(out *bytes.Buffer, fields []internalField) {
	writeAll(out, '{', '}', len(fields), func(i int) {
		writeScalar(out, fields[i].name)
		out.WriteByte(':')
		fields[i].write(out)
	})
}

// internalField is a field of an internal type: its name and how its value prints.
type internalField struct {
	name  string
	write func(*bytes.Buffer)
}

func fieldOf(name string, value reflect.Value) internalField {
	return internalField{name, func(out *bytes.Buffer) { writeInternal(out, value) }}
}

// internalFields lists the fields that the internal type of a struct has, in its order.
func internalFields(value reflect.Value) []internalField {
	var fields []internalField
	for i := range value.NumField() {
		meta := value.Type().Field(i)
		switch {
		case isNew(value.Interface(), meta.Name):
		case meta.Anonymous && meta.Type.Kind() == reflect.Struct:
			fields = append(fields, embeddedFields(value.Field(i))...)
		default:
			fields = append(fields, fieldOf(meta.Name, value.Field(i)))
		}
	}
	switch typed := value.Interface().(type) {
	case corev1.PodSpec:
		return podSpecFields(fields, typed.SecurityContext)
	case corev1.VolumeSource:
		return reorder(fields, "Quobyte", "RBD")
	case corev1.PodSecurityContext:
		return reorder(fields, "FSGroupChangePolicy", "FSGroup")
	}
	return fields
}

// isNew reports whether a field came with Kubernetes 1.37, so that the types of 1.36 lack it.
func isNew(owner any, name string) bool {
	switch name {
	case "BindMountOptions", "DefaultUser", "EvictionResponders":
		return true
	case "Mode":
		switch owner.(type) {
		case corev1.EmptyDirVolumeSource, corev1.GRPCAction:
			return true
		}
	case "Protocol":
		_, is := owner.(corev1.HTTPGetAction)
		return is
	case "User":
		switch owner.(type) {
		case corev1.ClusterTrustBundleProjection, corev1.DownwardAPIVolumeFile, corev1.KeyToPath,
			corev1.PodCertificateProjection, corev1.ServiceAccountTokenProjection:
			return true
		}
	}
	return false
}

// embeddedFields lists the fields of an embedded struct, which stand among those of the struct around it. Metadata
// keeps the JSON names that it has in both versions, and leaves out what is empty.
func embeddedFields(value reflect.Value) []internalField {
	if !strings.HasPrefix(value.Type().PkgPath(), machinery) {
		return internalFields(value)
	}
	text, err := json.Marshal(value.Interface())
	if err != nil {
		return nil
	}
	var fields []internalField
	document := json.NewDecoder(bytes.NewReader(text))
	if _, err := document.Token(); err != nil { // the opening brace
		return nil
	}
	for document.More() {
		name, err := document.Token()
		var content json.RawMessage
		if err != nil || document.Decode(&content) != nil {
			return nil
		}
		fields = append(fields, internalField{fmt.Sprint(name), func(out *bytes.Buffer) { out.Write(content) }})
	}
	return fields
}

// reorder moves the field of that name to behind another one.
func reorder(fields []internalField, name, behind string) []internalField {
	from := slices.IndexFunc(fields, func(f internalField) bool { return f.name == name })
	if from < 0 {
		return fields
	}
	moved := fields[from]
	fields = slices.Delete(fields, from, from+1)
	to := slices.IndexFunc(fields, func(f internalField) bool { return f.name == behind })
	return slices.Insert(fields, to+1, moved)
}

// podSpecFields moves the host's namespaces into the security context, and the rest to where the internal type has it.
func podSpecFields(fields []internalField, security *corev1.PodSecurityContext) []internalField {
	if security == nil {
		security = &corev1.PodSecurityContext{}
	}
	var inside, kept []internalField
	for _, f := range fields {
		switch f.name {
		case "HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers":
			inside = append(inside, f)
		case "DeprecatedServiceAccount":
			// An alias, which the internal type does without.
		default:
			kept = append(kept, f)
		}
	}
	inside = append(inside, internalFields(reflect.ValueOf(*security))...)
	for i := range kept {
		if kept[i].name == "SecurityContext" {
			kept[i].write = func(out *bytes.Buffer) { writeFields(out, inside) }
		}
	}
	kept = reorder(kept, "SetHostnameAsFQDN", "Subdomain")
	kept = reorder(kept, "PreemptionPolicy", "Priority")
	return reorder(kept, "Overhead", "RuntimeClassName")
}
