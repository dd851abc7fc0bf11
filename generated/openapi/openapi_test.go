package openapi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/openapi"
)

// newScheme returns a scheme with every API that this package has definitions of.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, authenticationv1.AddToScheme,
		authorizationv1.AddToScheme, autoscalingv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme,
		corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, rbacv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme,
		storagev1.AddToScheme, schedulingv1alpha2.AddToScheme,
	)
	require.NoError(t, builder.AddToScheme(scheme))
	return scheme
}

func definitions() map[string]common.OpenAPIDefinition {
	return openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/components/schemas/" + name)
	})
}

// TestEveryKindHasADefinition wants a definition under the name by which an API server asks for it; one that is missing
// ends such a server as it starts.
func TestEveryKindHasADefinition(t *testing.T) {
	scheme, all := newScheme(t), definitions()
	for kind := range scheme.AllKnownTypes() {
		name, err := scheme.ToOpenAPIDefinitionName(kind)
		require.NoError(t, err, kind)
		// metav1.AddToGroupVersion adds internal events of watches, which no API describes.
		if kind.Version == runtime.APIVersionInternal {
			continue
		}
		assert.Contains(t, all, name, kind)
	}
	for name, definition := range all {
		for _, dependency := range definition.Dependencies {
			assert.Contains(t, all, dependency, "%s refers to it", name)
		}
	}
}

// TestServerSideApplyFindsTypes builds from the definitions what an API server merges by, and turns objects into the
// typed values that it merges.
func TestServerSideApplyFindsTypes(t *testing.T) {
	scheme := newScheme(t)
	converter := newTypeConverter(t, scheme)
	meta := metav1.ObjectMeta{Namespace: "research", Name: "train"}
	for _, object := range []runtime.Object{
		&schedulingv1alpha2.Workload{ObjectMeta: meta, Spec: schedulingv1alpha2.WorkloadSpec{
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{Name: "workers"}},
		}},
		&schedulingv1alpha2.PodGroup{ObjectMeta: meta},
		&batchv1.Job{ObjectMeta: meta},
		&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}},
		&coordinationv1.Lease{ObjectMeta: meta},
	} {
		kinds, _, err := scheme.ObjectKinds(object)
		require.NoError(t, err)
		object.GetObjectKind().SetGroupVersionKind(kinds[0])

		typed, err := converter.ObjectToTyped(object)
		require.NoError(t, err, kinds[0])
		set, err := typed.ToFieldSet()
		require.NoError(t, err)
		if kinds[0].Kind == "Workload" {
			// A map by name, not a list by position.
			assert.Contains(t, set.String(), `.spec.podGroupTemplates[name="workers"].name`)
		}
	}
}

func newTypeConverter(t *testing.T, scheme *runtime.Scheme) managedfields.TypeConverter {
	t.Helper()
	kinds := map[string][]any{}
	for kind := range scheme.AllKnownTypes() {
		name, err := scheme.ToOpenAPIDefinitionName(kind)
		require.NoError(t, err)
		kinds[name] = append(kinds[name], map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind})
	}
	config := &common.OpenAPIV3Config{
		GetDefinitions: openapi.GetOpenAPIDefinitions,
		GetDefinitionName: func(name string) (string, spec.Extensions) {
			if kinds[name] == nil {
				return name, nil
			}
			return name, spec.Extensions{"x-kubernetes-group-version-kind": kinds[name]}
		},
	}
	var names []string
	for _, kind := range []schema.GroupVersionKind{
		schedulingv1alpha2.SchemeGroupVersion.WithKind("Workload"),
		schedulingv1alpha2.SchemeGroupVersion.WithKind("PodGroup"),
		batchv1.SchemeGroupVersion.WithKind("Job"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	} {
		name, err := scheme.ToOpenAPIDefinitionName(kind)
		require.NoError(t, err)
		names = append(names, name)
	}
	slices.Sort(names)
	models, err := builder3.BuildOpenAPIDefinitionsForResources(config, names...)
	require.NoError(t, err)
	converter, err := managedfields.NewTypeConverter(models, false)
	require.NoError(t, err)
	return converter
}

// The name of a definition is the import path of its type, with the domain turned round.
func ExampleGetOpenAPIDefinitions() {
	all := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) })
	podGroup := all[schedulingv1alpha2.PodGroup{}.OpenAPIModelName()]
	fmt.Println(schedulingv1alpha2.PodGroup{}.OpenAPIModelName())
	fmt.Println(podGroup.Schema.Required)
	// Output:
	// com.github.musterkube.muster.apis.scheduling.v1alpha2.PodGroup
	// [spec]
}
