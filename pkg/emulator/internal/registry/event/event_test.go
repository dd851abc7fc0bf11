package event_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func events(t *testing.T, version schema.GroupVersion, namespace string) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, version.WithResource("events"), namespace)
}

// oldEvent is what the first recorders write.
func oldEvent() *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e", Namespace: "kube-public"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "kube-public", Name: "p"},
		Source:         corev1.EventSource{Component: "kubelet"},
		Reason:         "Pulled",
	}
}

// newEvent is what newer recorders write.
func newEvent() *corev1.Event {
	return &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: "e", Namespace: "kube-public"},
		InvolvedObject:      corev1.ObjectReference{Kind: "Pod", Namespace: "kube-public", Name: "p"},
		EventTime:           metav1.NowMicro(),
		ReportingController: "example.com/controller",
		ReportingInstance:   "one",
		Action:              "Pulling",
		Reason:              "Pulled",
		Type:                corev1.EventTypeNormal,
	}
}

func TestCreate(t *testing.T) {
	for name, tc := range map[string]struct {
		version   schema.GroupVersion
		namespace string
		event     *corev1.Event
		change    func(event *corev1.Event)
		wantErr   string
	}{
		"an old event through core": {version: corev1.SchemeGroupVersion, event: oldEvent()},
		"an old event through the newer API lacks a time": {
			version: eventsv1.SchemeGroupVersion, event: oldEvent(), wantErr: "eventTime: Required value",
		},
		"a new event through either": {version: eventsv1.SchemeGroupVersion, event: newEvent()},
		"an event must stand where its object does": {
			version: corev1.SchemeGroupVersion, event: oldEvent(),
			change:  func(event *corev1.Event) { event.InvolvedObject.Namespace = "default" },
			wantErr: `involvedObject.namespace: Invalid value: "default": does not match event.namespace`,
		},
		"events of nodes are in the default namespace": {
			version: corev1.SchemeGroupVersion, namespace: "default", event: oldEvent(),
			change: func(event *corev1.Event) { event.Namespace, event.InvolvedObject.Namespace = "default", "" },
		},
		"a time asks for an action": {
			version: corev1.SchemeGroupVersion, event: newEvent(),
			change:  func(event *corev1.Event) { event.Action = "" },
			wantErr: "action: Required value",
		},
		"core calls the controller a component": {
			version: corev1.SchemeGroupVersion, event: newEvent(),
			change:  func(event *corev1.Event) { event.ReportingController = "" },
			wantErr: "reportingComponent: Required value",
		},
		"deprecated fields are not for the newer API": {
			version: eventsv1.SchemeGroupVersion, event: newEvent(),
			change:  func(event *corev1.Event) { event.Count = 2 },
			wantErr: "count: Invalid value: \"\": needs to be unset",
		},
		"a series is more than one": {
			version: eventsv1.SchemeGroupVersion, event: newEvent(),
			change: func(event *corev1.Event) {
				event.Series = &corev1.EventSeries{Count: 1, LastObservedTime: metav1.NowMicro()}
			},
			wantErr: "series.count: Invalid value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.event)
			}
			if tc.namespace == "" {
				tc.namespace = "kube-public"
			}
			_, err := events(t, tc.version, tc.namespace).Create(tc.event)
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
}

func TestNewerAPIChangesTheSeriesAlone(t *testing.T) {
	client := events(t, eventsv1.SchemeGroupVersion, "kube-public")
	_, err := client.Create(newEvent())
	require.NoError(t, err)
	_, err = client.Update("e", "", func(obj runtime.Object) {
		obj.(*corev1.Event).Series = &corev1.EventSeries{Count: 2, LastObservedTime: metav1.NowMicro()}
	})
	require.NoError(t, err)
	_, err = client.Update("e", "", func(obj runtime.Object) { obj.(*corev1.Event).Reason = "Other" })
	assert.ErrorContains(t, err, "reason: Invalid value: \"Other\": field is immutable")
	_, err = client.Update("e", "", func(obj runtime.Object) {
		event := obj.(*corev1.Event)
		event.EventTime = metav1.NewMicroTime(event.EventTime.Add(time.Second))
	})
	assert.ErrorContains(t, err, "eventTime: Invalid value")
}

func TestSelectByObject(t *testing.T) {
	client := events(t, corev1.SchemeGroupVersion, "kube-public")
	_, err := client.Create(oldEvent())
	require.NoError(t, err)
	for selector, want := range map[string]int{"involvedObject.name=p,involvedObject.kind=Pod": 1, "source=kubelet": 1, "reason=Other": 0} {
		list, err := client.List(fields.ParseSelectorOrDie(selector))
		require.NoError(t, err)
		assert.Len(t, list.(*corev1.EventList).Items, want, selector)
	}
}

func TestTable(t *testing.T) {
	client := events(t, corev1.SchemeGroupVersion, "kube-public")
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(metav1.Now().Add(-d)) }
	old := oldEvent()
	old.FirstTimestamp, old.LastTimestamp, old.Count = ago(50*time.Hour), ago(30*time.Hour), 3
	old.Message = " pulled \n"
	assert.Equal(t, []any{"30h", "", "Pulled", "pod/p", "", "kubelet", "pulled", "2d2h", int64(3), "e"}, client.Table(old).Rows[0].Cells)

	series := newEvent()
	series.EventTime = metav1.NewMicroTime(ago(40 * time.Hour).Time)
	series.Series = &corev1.EventSeries{Count: 8, LastObservedTime: metav1.NewMicroTime(ago(20 * time.Hour).Time)}
	assert.Equal(t, []any{"20h", "Normal", "Pulled", "pod/p", "", "example.com/controller, one", "", "40h", int64(8), "e"}, client.Table(series).Rows[0].Cells)

	once := newEvent()
	once.EventTime = metav1.NewMicroTime(ago(40 * time.Hour).Time)
	once.InvolvedObject.Name = ""
	assert.Equal(t, []any{"40h", "Normal", "Pulled", "pod", "", "example.com/controller, one", "", "40h", int64(1), "e"}, client.Table(once).Rows[0].Cells)
}
