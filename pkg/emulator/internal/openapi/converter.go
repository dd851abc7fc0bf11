package openapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

// TypeConverter returns the converter that writes of a group's kinds need to keep metadata.managedFields. There are two,
// as in a kube-apiserver: that of the core group knows the kinds served under /api, that of all others the kinds served
// under /apis. It shows in Events, which are served under both: who writes by one of the APIs takes over the fields that
// were written by the other, to whose entries the kinds are unknown. A converter is built when it is first used, once a
// process.
func TypeConverter(group string) managedfields.TypeConverter {
	switch group {
	case corev1.GroupName:
		return lazyConverter{coreConverter}
	case apiextensions.GroupName:
		return lazyConverter{definitionsConverter}
	}
	return lazyConverter{groupsConverter}
}

// coreConverter and groupsConverter are what the first writes pay for.
var (
	coreConverter = sync.OnceValues(func() (*quickConverter, error) {
		return buildConverter(func(defined definitionsByName) []string {
			return models(defined, func(kind schema.GroupKind) bool {
				// Tokens of ServiceAccounts are asked for under /api, reviews of tokens are not.
				return servedByCore(kind) || kind.Group == authenticationv1.GroupName
			})
		})
	})
	groupsConverter = sync.OnceValues(func() (*quickConverter, error) {
		return buildConverter(func(defined definitionsByName) []string { return models(defined, servedByGroups) })
	})
)

// servedByCore tells which kinds are served under /api: those of the core group, the Evictions of pods, and the Scales
// of replication controllers.
func servedByCore(kind schema.GroupKind) bool {
	return kind.Group == corev1.GroupName || kind == evictions || kind == scales
}

// servedByGroups tells which kinds are served under /apis.
func servedByGroups(kind schema.GroupKind) bool {
	return kind.Group != corev1.GroupName && kind != evictions
}

var (
	evictions = schema.GroupKind{Group: policyv1.GroupName, Kind: "Eviction"}
	scales    = schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}
)

// lazyConverter puts off the build until something is converted.
type lazyConverter struct {
	build func() (*quickConverter, error)
}

var _ managedfields.TypeConverter = lazyConverter{}

// ObjectToTyped implements managedfields.TypeConverter. What comes after a conversion goes deep: merging, comparing.
func (c lazyConverter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	stack.Reserve()
	built, err := c.build()
	if err != nil {
		return nil, err
	}
	return built.objectToTyped(obj, options)
}

// TypedToObject implements managedfields.TypeConverter.
func (c lazyConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	built, err := c.build()
	if err != nil {
		return nil, err
	}
	return built.TypedToObject(value)
}

// quickConverter passes over checks that cannot fail. They are most of what a conversion costs, and each write converts
// twice.
type quickConverter struct {
	managedfields.TypeConverter
	// types holds the typed.ParseableType of each schema.GroupVersionKind that was converted before.
	types sync.Map
}

// objectToTyped converts an object. One of a Go type fits its schema, which was made from that type, and duplicates in
// lists are all that is left to find; where they are allowed there is nothing to check. What is wrong with the keys of
// list items shows when the value is compared or merged.
func (c *quickConverter) objectToTyped(obj runtime.Object, options []typed.ValidationOptions) (*typed.TypedValue, error) {
	if _, shapeless := obj.(runtime.Unstructured); shapeless || !slices.Contains(options, typed.AllowDuplicates) {
		return c.ObjectToTyped(obj, options...)
	}
	kind := obj.GetObjectKind().GroupVersionKind()
	known, found := c.types.Load(kind)
	if !found {
		checked, err := c.ObjectToTyped(obj, options...)
		if err == nil {
			c.types.Store(kind, typed.ParseableType{Schema: checked.Schema(), TypeRef: checked.TypeRef()})
		}
		return checked, err
	}
	reflected, err := newAlike(obj)
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", kind, err)
	}
	of := known.(typed.ParseableType)
	//nolint:staticcheck // It is deprecated because checks are said to be cheap; here they were a tenth of a write.
	return typed.AsTypedUnvalidated(reflected, of.Schema, of.TypeRef), nil
}

// definitionsByName are the definitions of models.
type definitionsByName = map[string]common.OpenAPIDefinition

// buildConverter makes the converter of the kinds behind some models.
func buildConverter(of func(definitionsByName) []string) (*quickConverter, error) {
	building.Lock()
	defer building.Unlock()
	config := configV3()
	schemas, err := builder3.BuildOpenAPIDefinitionsForResources(config, of(config.Definitions)...)
	if err != nil {
		return nil, fmt.Errorf("building the schemas of the kinds: %w", err)
	}
	built, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, fmt.Errorf("building the type converter: %w", err)
	}
	return &quickConverter{TypeConverter: built}, nil
}

// models lists the models of the kinds of some groups that can be written. Lists and the options of requests cannot; what
// has no definition is not served.
func models(defined definitionsByName, of func(kind schema.GroupKind) bool) []string {
	var names []string
	s := scheme.New()
	for kind := range s.AllKnownTypes() {
		if !of(kind.GroupKind()) || kind.Version == runtime.APIVersionInternal || strings.HasSuffix(kind.Kind, "List") || strings.HasSuffix(kind.Kind, "Options") {
			continue
		}
		name, err := s.ToOpenAPIDefinitionName(kind)
		if _, ok := defined[name]; err == nil && ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
