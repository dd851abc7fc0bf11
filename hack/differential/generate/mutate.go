package generate

import (
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deepest is how far below a change what is made anew may reach.
const deepest = 4

// Mutate changes one thing in what pointer points to, anywhere, to anything that its type allows: a text, a number, an
// item too many, a field that was not there.
func (g *Generator) Mutate(pointer any) {
	value := reflect.ValueOf(pointer).Elem()
	g.change(value, g.texts(value))
}

// texts lists the texts in a value, so that changes can make names meet that should not, and the other way round.
func (g *Generator) texts(value reflect.Value) []string {
	var found []string
	switch value.Kind() {
	case reflect.String:
		if value.Len() > 0 {
			found = append(found, value.String())
		}
	case reflect.Pointer:
		if !value.IsNil() {
			found = g.texts(value.Elem())
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				found = append(found, g.texts(value.Field(i))...)
			}
		}
	case reflect.Slice:
		for i := range value.Len() {
			found = append(found, g.texts(value.Index(i))...)
		}
	case reflect.Map:
		for _, key := range sortedKeys(value) {
			found = append(found, g.texts(key)...)
		}
	}
	return found
}

// change changes something in value.
func (g *Generator) change(value reflect.Value, texts []string) {
	if g.changeWhole(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		switch {
		case value.IsNil():
			value.Set(reflect.New(value.Type().Elem()))
			g.fill(value.Elem(), texts, deepest)
		case g.Chance(0.2):
			value.SetZero()
		default:
			g.change(value.Elem(), texts)
		}
	case reflect.Struct:
		g.change(g.anyField(value), texts)
	case reflect.Slice:
		g.changeList(value, texts)
	case reflect.Map:
		g.changeMap(value, texts)
	default:
		g.fill(value, texts, deepest)
	}
}

// anyField returns a field of a struct. Those that are set are as likely as those that are not.
func (g *Generator) anyField(value reflect.Value) reflect.Value {
	var set, unset []reflect.Value
	for i := range value.NumField() {
		switch field := value.Type().Field(i); {
		case !field.IsExported() || field.Type == reflect.TypeFor[metav1.TypeMeta]() || field.Name == "SelfLink":
		case field.Name == "ManagedFields" && g.Chance(0.9):
		case value.Field(i).IsZero():
			unset = append(unset, value.Field(i))
		default:
			set = append(set, value.Field(i))
		}
	}
	if len(set) > 0 && (len(unset) == 0 || g.Chance(0.5)) {
		return pick(g, set...)
	}
	if len(unset) == 0 {
		return reflect.New(reflect.TypeFor[bool]()).Elem() // there is nothing to change
	}
	return pick(g, unset...)
}

func (g *Generator) changeList(value reflect.Value, texts []string) {
	length := value.Len()
	switch {
	case length == 0 || g.Chance(0.15): // one more
		item := reflect.New(value.Type().Elem()).Elem()
		g.fill(item, texts, deepest)
		value.Set(reflect.Append(value, item))
	case g.Chance(0.15): // one twice
		value.Set(reflect.Append(value, value.Index(g.random.IntN(length))))
	case g.Chance(0.15): // one less
		i := g.random.IntN(length)
		value.Set(reflect.AppendSlice(value.Slice3(0, i, i), value.Slice(i+1, length)))
	case g.Chance(0.05): // too many
		item := value.Index(g.random.IntN(length))
		for range pick(g, 5, 9, 17, 21, 33) {
			value.Set(reflect.Append(value, item))
		}
	case g.Chance(0.05):
		value.Set(reflect.MakeSlice(value.Type(), 0, 0))
	case length > 1 && g.Chance(0.1): // another order
		swap := reflect.Swapper(value.Interface())
		swap(0, 1+g.random.IntN(length-1))
	default:
		g.change(value.Index(g.random.IntN(length)), texts)
	}
}

func (g *Generator) changeMap(value reflect.Value, texts []string) {
	keys := sortedKeys(value)
	if len(keys) > 0 && g.Chance(0.2) {
		value.SetMapIndex(pick(g, keys...), reflect.Value{})
		return
	}
	if value.IsNil() {
		value.Set(reflect.MakeMap(value.Type()))
	}
	key := reflect.New(value.Type().Key()).Elem()
	if len(keys) > 0 && g.Chance(0.5) {
		key.Set(pick(g, keys...))
	} else {
		g.fill(key, texts, 0)
	}
	item := reflect.New(value.Type().Elem()).Elem()
	g.fill(item, texts, deepest)
	if value.Type() == reflect.TypeFor[map[string]string]() && g.Chance(0.2) {
		key.SetString(pick(g, oldAnnotations...))
		item.SetString(pick(g, oldValues...))
	}
	value.SetMapIndex(key, item)
}

// sortedKeys returns the keys of a map, which are texts, in an order that is the same in every run.
func sortedKeys(value reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(value.MapKeys()), func(a, b reflect.Value) int {
		return strings.Compare(a.String(), b.String())
	})
}

// changeWhole changes values of types that are changed as a whole, and reports whether it did.
func (g *Generator) changeWhole(value reflect.Value) bool {
	switch whole := value.Addr().Interface().(type) {
	case *resource.Quantity:
		*whole = resource.MustParse(pick(g, quantities...))
	case *intstr.IntOrString:
		*whole = pick(g, intstr.FromInt32(int32(pick(g, numbers...))), intstr.FromString(pick(g, words...)),
			intstr.FromString(pick(g, "50%", "150%", "http", "a-1")))
	case *metav1.Time:
		*whole = metav1.NewTime(g.time())
	case *metav1.MicroTime:
		*whole = metav1.NewMicroTime(g.time())
	case *metav1.FieldsV1:
		whole.SetRawString(pick(g, `{}`, `{"f:metadata":{}}`, `{"f:spec":{"f:a":{}}}`))
	default:
		return false
	}
	return true
}

func (g *Generator) time() time.Time {
	if g.Chance(0.2) {
		return time.Time{}
	}
	return time.Date(2026, 1, 1, g.random.IntN(3), 0, 0, 0, time.UTC)
}

// fill sets a value to something. depth is how far down what it holds is filled as well.
func (g *Generator) fill(value reflect.Value, texts []string, depth int) {
	if g.changeWhole(value) {
		return
	}
	switch value.Kind() {
	case reflect.Bool:
		value.SetBool(!value.Bool())
	case reflect.Int, reflect.Int32:
		value.SetInt(pick(g, numbers...))
	case reflect.Int64:
		value.SetInt(pick(g, numbers...))
		if g.Chance(0.1) {
			value.SetInt(pick(g, bigNumbers...))
		}
	case reflect.String:
		value.SetString(g.text(value.Type(), texts))
	case reflect.Pointer:
		if depth > 0 && g.Chance(0.5) {
			value.Set(reflect.New(value.Type().Elem()))
			g.fill(value.Elem(), texts, depth-1)
		}
	case reflect.Struct:
		g.fillStruct(value, texts, depth)
	case reflect.Slice:
		g.fillList(value, texts, depth)
	case reflect.Map:
		if depth > 0 && g.Chance(0.4) {
			g.changeMap(value, texts)
		}
	}
}

func (g *Generator) fillStruct(value reflect.Value, texts []string, depth int) {
	for i := range value.NumField() {
		// Of many fields a few are enough.
		if value.Type().Field(i).IsExported() && (value.NumField() <= 3 || g.Chance(max(0.25, 3/float64(value.NumField())))) {
			g.fill(value.Field(i), texts, depth)
		}
	}
}

func (g *Generator) fillList(value reflect.Value, texts []string, depth int) {
	if value.Type().Elem().Kind() == reflect.Uint8 {
		value.SetBytes([]byte(pick(g, words...)))
		return
	}
	if depth == 0 {
		return
	}
	for range pick(g, 0, 1, 1, 2) {
		item := reflect.New(value.Type().Elem()).Elem()
		g.fill(item, texts, depth-1)
		value.Set(reflect.Append(value, item))
	}
}

// text returns a text for a type: one that the type knows, one that is in the object already, or any other.
func (g *Generator) text(kind reflect.Type, texts []string) string {
	if kind == reflect.TypeFor[corev1.ResourceName]() {
		return string(pick(g, resourceNames...))
	}
	if known := values[kind]; known != nil && g.Chance(0.85) {
		return pick(g, known...)
	}
	if len(texts) > 0 && g.Chance(0.25) {
		return pick(g, texts...)
	}
	return pick(g, words...)
}
