package openapi

import (
	"net/http"
	"reflect"
	"sync"
	"testing"

	"github.com/emicklei/go-restful/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

func ref(name string) spec.Ref { return spec.MustCreateRef("#/" + name) }

func TestDefinitionsLackWhatIsNewer(t *testing.T) {
	all := definitions(ref)
	for _, newer := range scheme.Newer() {
		definition, ok := all[newer.Model()]
		require.True(t, ok, "no definition of %s", newer.Model())
		assert.NotEmpty(t, definition.Schema.Properties, newer.Model())
		for _, name := range newer.Names {
			assert.NotContains(t, definition.Schema.Properties, name, newer.Model())
			assert.NotContains(t, definition.Schema.Required, name, newer.Model())
		}
	}
}

func TestDefinitionsRefersOnlyToWhatThereIs(t *testing.T) {
	all := definitions(ref)
	for name, definition := range all {
		for _, dependency := range definition.Dependencies {
			assert.Contains(t, all, dependency, "of %s", name)
		}
	}
}

func TestBuildsDoNotShareDefinitions(t *testing.T) {
	first := definitions(ref)
	delete(first[corev1.Pod{}.OpenAPIModelName()].Schema.Properties, "spec")
	assert.Contains(t, definitions(ref)[corev1.Pod{}.OpenAPIModelName()].Schema.Properties, "spec")
}

func TestDefinitionNames(t *testing.T) {
	name, extensions := definitionName(schedulingv1alpha2.Workload{}.OpenAPIModelName())
	assert.Equal(t, "io.k8s.api.scheduling.v1alpha2.Workload", name)
	assert.Equal(t, spec.Extensions{kindExtension: []any{
		map[string]any{"group": "scheduling.k8s.io", "version": "v1alpha2", "kind": "Workload"},
	}}, extensions, "internal versions are not for clients")

	name, extensions = definitionName(corev1.PodSpec{}.OpenAPIModelName())
	assert.Equal(t, "io.k8s.api.core.v1.PodSpec", name)
	assert.Nil(t, extensions, "it is the type of no kind")
}

// Conversions from many goroutines meet in one build.
func TestTypeConverterKnowsEveryKind(t *testing.T) {
	var all sync.WaitGroup
	for _, obj := range []runtime.Object{&corev1.Pod{}, &batchv1.Job{}, &schedulingv1alpha2.PodGroup{}, &schedulingv1alpha2.Workload{}} {
		for range 4 {
			all.Go(func() {
				kinds, _, err := scheme.New().ObjectKinds(obj)
				if !assert.NoError(t, err) {
					return
				}
				content := &unstructured.Unstructured{}
				content.SetGroupVersionKind(kinds[0])
				content.SetName("a")
				typed, err := TypeConverter(kinds[0].Group).ObjectToTyped(content)
				if !assert.NoError(t, err, reflect.TypeOf(obj)) {
					return
				}
				back, err := TypeConverter(kinds[0].Group).TypedToObject(typed)
				assert.NoError(t, err)
				assert.Equal(t, content.Object, back.(*unstructured.Unstructured).Object)
			})
		}
	}
	all.Wait()
}

// Who writes an Event by one API does not know what was written by the other.
func TestConvertersKnowTheKindsOfTheirDoorAlone(t *testing.T) {
	for _, group := range []string{"", eventsv1.GroupName} {
		for _, version := range []schema.GroupVersion{corev1.SchemeGroupVersion, eventsv1.SchemeGroupVersion} {
			event := &unstructured.Unstructured{}
			event.SetGroupVersionKind(version.WithKind("Event"))
			_, err := TypeConverter(group).ObjectToTyped(event)
			if version.Group == group {
				assert.NoError(t, err)
				continue
			}
			assert.ErrorContains(t, err, "no corresponding type")
		}
	}
}

func TestDocumentsHoldNoHandlers(t *testing.T) {
	service := new(restful.WebService)
	service.Path("/x")
	service.Route(service.GET("/y").To(func(*restful.Request, *restful.Response) {}).Operation("y"))
	copied := withoutHandlers([]*restful.WebService{service})
	require.Len(t, copied, 1)
	require.Len(t, copied[0].routes, 1)
	assert.Equal(t, http.MethodGet, copied[0].routes[0].Method())
	assert.Equal(t, "/x/y", copied[0].routes[0].Path())
	route := reflect.ValueOf(copied[0].routes[0]).Elem().FieldByName("Route").Elem()
	for _, field := range []string{"Function", "Filters", "If"} {
		assert.True(t, route.FieldByName(field).IsNil(), "%s would keep a server alive", field)
	}
	assert.NotNil(t, service.Routes()[0].Function, "the server's own route keeps its handler")
}

func TestFingerprintsTellRoutesApart(t *testing.T) {
	one, other := new(restful.WebService), new(restful.WebService)
	handler := func(*restful.Request, *restful.Response) {}
	one.Path("/x").Route(one.GET("/y").To(handler))
	other.Path("/x").Route(other.PUT("/y").To(handler))
	hash := func(services ...*restful.WebService) string { return fingerprint(withoutHandlers(services)) }
	assert.Equal(t, hash(one, other), hash(other, one))
	assert.NotEqual(t, hash(one), hash(other))
	assert.NotEqual(t, hash(one), hash(one, other))
}
