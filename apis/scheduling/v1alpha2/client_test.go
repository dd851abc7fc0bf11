package v1alpha2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	apply "github.com/musterkube/muster/generated/applyconfiguration/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/generated/clientset/versioned/fake"
	"github.com/musterkube/muster/generated/informers/externalversions"
)

const namespace = "research"

func TestFakeClientAppliesWorkload(t *testing.T) {
	client := fake.NewClientset().SchedulingV1alpha2().Workloads(namespace)
	template := func(name string, minCount int32) *apply.PodGroupTemplateApplyConfiguration {
		return apply.PodGroupTemplate().WithName(name).WithSchedulingPolicy(
			apply.PodGroupSchedulingPolicy().WithGang(apply.GangSchedulingPolicy().WithMinCount(minCount)))
	}
	applied := func(manager string, templates ...*apply.PodGroupTemplateApplyConfiguration) (*schedulingv1alpha2.Workload, error) {
		return client.Apply(t.Context(),
			apply.Workload("train", namespace).WithSpec(apply.WorkloadSpec().WithPodGroupTemplates(templates...)),
			metav1.ApplyOptions{FieldManager: manager})
	}

	first, err := applied("one", template("driver", 1))
	require.NoError(t, err)
	require.Len(t, first.Spec.PodGroupTemplates, 1)

	// podGroupTemplates is a map by name: each manager owns its own entries.
	second, err := applied("two", template("workers", 4))
	require.NoError(t, err)
	want := map[string]int32{"driver": 1, "workers": 4}
	got := map[string]int32{}
	for _, tpl := range second.Spec.PodGroupTemplates {
		got[tpl.Name] = tpl.SchedulingPolicy.Gang.MinCount
	}
	assert.Equal(t, want, got)

	_, err = applied("two", template("driver", 2))
	assert.True(t, apierrors.IsConflict(err), "another manager's field: %v", err)

	extracted, err := apply.ExtractWorkload(second, "two")
	require.NoError(t, err)
	require.Len(t, extracted.Spec.PodGroupTemplates, 1)
	assert.Equal(t, "workers", *extracted.Spec.PodGroupTemplates[0].Name)
}

func TestFakeClientAppliesPodGroup(t *testing.T) {
	client := fake.NewClientset().SchedulingV1alpha2().PodGroups(namespace)
	_, err := client.Apply(t.Context(),
		apply.PodGroup("train-workers", namespace).WithSpec(apply.PodGroupSpec().
			WithPodGroupTemplateRef(apply.PodGroupTemplateReference().WithWorkload(
				apply.WorkloadPodGroupTemplateReference().WithWorkloadName("train").WithPodGroupTemplateName("workers"))).
			WithSchedulingPolicy(apply.PodGroupSchedulingPolicy().WithGang(apply.GangSchedulingPolicy().WithMinCount(4)))),
		metav1.ApplyOptions{FieldManager: "maker"})
	require.NoError(t, err)

	condition := func(manager, kind string) (*schedulingv1alpha2.PodGroup, error) {
		return client.ApplyStatus(t.Context(), apply.PodGroup("train-workers", namespace).WithStatus(
			apply.PodGroupStatus().WithConditions(metav1apply.Condition().WithType(kind).WithStatus(metav1.ConditionTrue).
				WithReason("Tested"))), metav1.ApplyOptions{FieldManager: manager})
	}
	_, err = condition("scheduler", schedulingv1alpha2.PodGroupScheduled)
	require.NoError(t, err)
	// conditions is a map by type, so a second writer adds to it.
	group, err := condition("evictor", schedulingv1alpha2.DisruptionTarget)
	require.NoError(t, err)

	types := []string{}
	for _, c := range group.Status.Conditions {
		types = append(types, c.Type)
	}
	assert.ElementsMatch(t, []string{"PodGroupScheduled", "DisruptionTarget"}, types)
	assert.Equal(t, int32(4), group.Spec.SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, "train", group.Spec.PodGroupTemplateRef.Workload.WorkloadName)
}

func TestInformersFillListers(t *testing.T) {
	client := fake.NewClientset(gang("a"), gang("b"))
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(namespace))
	groups := factory.Scheduling().V1alpha2().PodGroups()
	informer := groups.Informer()
	factory.StartWithContext(t.Context())
	t.Cleanup(factory.Shutdown)
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))

	listed, err := groups.Lister().PodGroups(namespace).List(labels.Everything())
	require.NoError(t, err)
	assert.Len(t, listed, 2)
	_, err = groups.Lister().PodGroups(namespace).Get("c")
	assert.True(t, apierrors.IsNotFound(err))
}

// TestClientSpeaksProtobuf lets a typed client talk protobuf both ways with a server that knows nothing else.
func TestClientSpeaksProtobuf(t *testing.T) {
	scheme := newScheme(t)
	info, ok := runtime.SerializerInfoForMediaType(serializer.NewCodecFactory(scheme).SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	require.True(t, ok)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/apis/scheduling.k8s.io/v1alpha2/namespaces/research/podgroups", r.URL.Path)
		assert.Equal(t, runtime.ContentTypeProtobuf, r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		received, err := runtime.Decode(info.Serializer, body)
		if !assert.NoError(t, err) {
			return
		}
		received.(*schedulingv1alpha2.PodGroup).UID = "made-by-the-server"
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		w.WriteHeader(http.StatusCreated)
		assert.NoError(t, info.Serializer.Encode(received, w))
	}))
	t.Cleanup(server.Close)
	client, err := versioned.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{
		ContentType:        runtime.ContentTypeProtobuf,
		AcceptContentTypes: runtime.ContentTypeProtobuf,
	}})
	require.NoError(t, err)

	sent := gang("train-workers")
	got, err := client.SchedulingV1alpha2().PodGroups(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
	require.NoError(t, err)

	want := gang("train-workers")
	want.UID = "made-by-the-server"
	// No defaults: what the server says is what the caller gets.
	got.TypeMeta = metav1.TypeMeta{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// gang returns a PodGroup of four pods.
func gang(name string) *schedulingv1alpha2.PodGroup {
	return &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4},
		}},
	}
}
