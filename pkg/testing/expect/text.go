package expect

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// mostLines bounds how much of an object a message shows.
const mostLines = 120

// Text returns an object as YAML for a reader: without managed fields and what was never set, and cut off after 120 lines.
func Text(object runtime.Object) string {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Sprintf("%+v", object)
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	prune(fields)
	text, err := yaml.Marshal(fields)
	if err != nil {
		return fmt.Sprintf("%+v", object)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if more := len(lines) - mostLines; more > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("… %d more lines", more))
	}
	return strings.Join(lines, "\n")
}

// prune takes away what typed objects have of what is not there: a time of creation that is null, an empty status. Other
// empty values mean something, such as a basic policy.
func prune(fields map[string]any) {
	for key, value := range fields {
		child, ok := value.(map[string]any)
		switch {
		case value == nil, ok && len(child) == 0 && (key == "status" || key == "resources"):
			delete(fields, key)
		case ok:
			prune(child)
		}
	}
}

// isNil tells whether an object, the pointer that it is, is nil.
func isNil(object runtime.Object) bool {
	return object == nil || reflect.ValueOf(object).Kind() == reflect.Pointer && reflect.ValueOf(object).IsNil()
}
