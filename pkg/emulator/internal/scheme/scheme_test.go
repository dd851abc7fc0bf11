package scheme

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

func TestExternalKindsComeFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		obj  runtime.Object
		want schema.GroupVersionKind
	}{
		"a pod":                {&corev1.Pod{}, corev1.SchemeGroupVersion.WithKind("Pod")},
		"a job":                {&batchv1.Job{}, batchv1.SchemeGroupVersion.WithKind("Job")},
		"a workload":           {&schedulingv1alpha2.Workload{}, schedulingv1alpha2.SchemeGroupVersion.WithKind("Workload")},
		"a priority class":     {&schedulingv1.PriorityClass{}, schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")},
		"an event of core":     {&corev1.Event{}, corev1.SchemeGroupVersion.WithKind("Event")},
		"an event of its own":  {&eventsv1.Event{}, eventsv1.SchemeGroupVersion.WithKind("Event")},
		"a list of pod groups": {&schedulingv1alpha2.PodGroupList{}, schedulingv1alpha2.SchemeGroupVersion.WithKind("PodGroupList")},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, unversioned, err := New().ObjectKinds(tc.obj)
			require.NoError(t, err)
			assert.False(t, unversioned)
			assert.Equal(t, tc.want, kinds[0], "errors name the first kind of a type")
		})
	}
}

func TestEveryServedKindHasAnInternalTwin(t *testing.T) {
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Binding"),
		batchv1.SchemeGroupVersion.WithKind("JobList"),
		schedulingv1alpha2.SchemeGroupVersion.WithKind("PodGroup"),
		schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
		eventsv1.SchemeGroupVersion.WithKind("EventList"),
	} {
		_, err := New().New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
		assert.NoError(t, err, kind)
	}
	_, err := New().New(schema.GroupVersionKind{Version: runtime.APIVersionInternal, Kind: "ListOptions"})
	assert.Error(t, err, "the handlers have their own internal ListOptions")
}

func TestStorageVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		resource schema.GroupResource
		want     schema.GroupVersion
	}{
		"pods are of core":                         {corev1.Resource("pods"), corev1.SchemeGroupVersion},
		"events of either API are of core":         {eventsv1.Resource("events"), corev1.SchemeGroupVersion},
		"workloads are of the alpha version":       {schedulingv1alpha2.Resource("workloads"), schedulingv1alpha2.SchemeGroupVersion},
		"priority classes are of the stable one":   {schedulingv1.Resource("priorityclasses"), schedulingv1.SchemeGroupVersion},
		"a group with one version is stored in it": {batchv1.Resource("jobs"), batchv1.SchemeGroupVersion},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, New().StorageVersion(tc.resource))
		})
	}
}

func TestVersionsOfTheSchedulingGroupAreInOrder(t *testing.T) {
	assert.Equal(t, []schema.GroupVersion{schedulingv1.SchemeGroupVersion, schedulingv1alpha2.SchemeGroupVersion},
		New().PrioritizedVersionsForGroup(schedulingv1.GroupName))
}

func TestStorageCodecAppliesDefaultsAnew(t *testing.T) {
	codec := New().StorageCodec(schedulingv1alpha2.SchemeGroupVersion)
	data, err := runtime.Encode(codec, &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}})
	require.NoError(t, err)
	assert.Equal(t, "k8s\x00", string(data[:4]), "stored as protobuf")

	obj, err := runtime.Decode(codec, data)
	require.NoError(t, err)
	group := obj.(*schedulingv1alpha2.PodGroup)
	assert.Empty(t, group.TypeMeta, "internal objects do not say what they are")
	require.NotNil(t, group.Spec.DisruptionMode)
	assert.Equal(t, schedulingv1alpha2.DisruptionModePod, *group.Spec.DisruptionMode)
}

func TestEventsConvertBothWaysWithoutLoss(t *testing.T) {
	at := metav1.MicroTime{Time: metav1.Now().Rfc3339Copy().Time}
	event := &eventsv1.Event{
		TypeMeta:                 metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		ObjectMeta:               metav1.ObjectMeta{Name: "e", Namespace: "ns"},
		EventTime:                at,
		Series:                   &eventsv1.EventSeries{Count: 3, LastObservedTime: at},
		ReportingController:      "c",
		ReportingInstance:        "i",
		Action:                   "a",
		Reason:                   "r",
		Regarding:                corev1.ObjectReference{Kind: "Pod", Name: "p"},
		Related:                  &corev1.ObjectReference{Name: "q"},
		Note:                     "n",
		Type:                     "Normal",
		DeprecatedSource:         corev1.EventSource{Component: "s"},
		DeprecatedFirstTimestamp: metav1.Time(at),
		DeprecatedLastTimestamp:  metav1.Time(at),
		DeprecatedCount:          4,
	}
	internal, err := New().ConvertToVersion(event, schema.GroupVersion{Group: eventsv1.GroupName, Version: runtime.APIVersionInternal})
	require.NoError(t, err)
	core := internal.(*corev1.Event)
	assert.Equal(t, "n", core.Message)
	assert.Equal(t, "p", core.InvolvedObject.Name)
	assert.Equal(t, int32(3), core.Series.Count)

	back, err := New().ConvertToVersion(core, eventsv1.SchemeGroupVersion)
	require.NoError(t, err)
	assert.Equal(t, event, back)
}

func TestFieldLabels(t *testing.T) {
	for name, tc := range map[string]struct {
		kind        schema.GroupVersionKind
		label, want string
		wantErr     string
	}{
		"pods can be selected by node":                    {kind: corev1.SchemeGroupVersion.WithKind("Pod"), label: "spec.nodeName", want: "spec.nodeName"},
		"spec.host of old stands for the node":            {kind: corev1.SchemeGroupVersion.WithKind("Pod"), label: "spec.host", want: "spec.nodeName"},
		"other labels of pods are refused":                {kind: corev1.SchemeGroupVersion.WithKind("Pod"), label: "spec.x", wantErr: "field label not supported: spec.x"},
		"jobs refuse in words of their own":               {kind: batchv1.SchemeGroupVersion.WithKind("Job"), label: "spec.x", wantErr: `field label "spec.x" not supported for Job`},
		"jobs can be selected by successes":               {kind: batchv1.SchemeGroupVersion.WithKind("Job"), label: "status.successful", want: "status.successful"},
		"newer events name what core calls otherwise":     {kind: eventsv1.SchemeGroupVersion.WithKind("Event"), label: "regarding.name", want: "involvedObject.name"},
		"kinds without labels of their own have the name": {kind: schedulingv1alpha2.SchemeGroupVersion.WithKind("Workload"), label: "metadata.name", want: "metadata.name"},
		"and nothing else":                                {kind: schedulingv1alpha2.SchemeGroupVersion.WithKind("Workload"), label: "spec.x", wantErr: `"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := New().ConvertFieldLabel(tc.kind, tc.label, "v")
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
