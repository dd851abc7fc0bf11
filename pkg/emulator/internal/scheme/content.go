package scheme

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// MentionsNewerFields tells whether the name of any field of [Newer] occurs in a JSON document. It is quick, and may be
// mistaken only in that it finds one where there is none.
func MentionsNewerFields(document []byte) bool {
	return mentionsNewer(document, false)
}

// RemoveNewerFields takes the fields of [Newer] out of content, a JSON object of the kind of obj, and returns their paths,
// sorted, such as "spec.template.spec.containers[0].volumeMounts[1].bindMountOptions".
func RemoveNewerFields(obj runtime.Object, content map[string]any) []string {
	var found []string
	planOf(reflect.TypeOf(obj).Elem()).remove(content, "", &found)
	slices.Sort(found)
	return found
}

// remove takes newer fields out of a value that p describes and that stands at path.
func (p *plan) remove(value any, path string, found *[]string) {
	if p == nil {
		return
	}
	switch value := value.(type) {
	case []any:
		for i, elem := range value {
			p.elem.remove(elem, fmt.Sprintf("%s[%d]", path, i), found)
		}
	case map[string]any:
		for name, member := range value {
			at := name
			if path != "" {
				at = path + "." + name
			}
			if _, ok := p.newer[name]; ok {
				*found = append(*found, at)
				delete(value, name)
				continue
			}
			p.older[name].plan.remove(member, at, found)
		}
	}
}
