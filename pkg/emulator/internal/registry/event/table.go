package event

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	doc := corev1.Event{}.SwaggerDoc()
	name := resource.NameColumn()
	name.Priority = 1
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.Column("Last Seen", doc["lastTimestamp"]),
		resource.Column("Type", doc["type"]),
		resource.Column("Reason", doc["reason"]),
		resource.Column("Object", doc["involvedObject"]),
		resource.WideColumn("Subobject", corev1.ObjectReference{}.SwaggerDoc()["fieldPath"]),
		resource.WideColumn("Source", doc["source"]),
		resource.Column("Message", doc["message"]),
		resource.WideColumn("First Seen", doc["firstTimestamp"]),
		resource.WideColumn("Count", doc["count"]),
		name,
	}, func(event *corev1.Event) resource.Row {
		first, last, count := seen(now, event)
		return resource.Row{Cells: []any{
			last, event.Type, event.Reason, object(event), event.InvolvedObject.FieldPath, source(event),
			strings.TrimSpace(event.Message), first, count, event.Name,
		}}
	})
}

// seen says how long ago an event was seen first and last, and how often. Events of newer clients have an event time and
// a series for the older timestamps and count.
func seen(now clock.PassiveClock, event *corev1.Event) (first, last string, count int64) {
	first = resource.Since(now, event.FirstTimestamp.Time)
	if event.FirstTimestamp.IsZero() {
		first = resource.Since(now, event.EventTime.Time)
	}
	if event.Series != nil {
		return first, resource.Since(now, event.Series.LastObservedTime.Time), int64(event.Series.Count)
	}
	last = first
	if !event.LastTimestamp.IsZero() {
		last = resource.Since(now, event.LastTimestamp.Time)
	}
	return first, last, int64(cmp.Or(event.Count, 1))
}

func object(event *corev1.Event) string {
	kind := strings.ToLower(event.InvolvedObject.Kind)
	if event.InvolvedObject.Name == "" {
		return kind
	}
	return kind + "/" + event.InvolvedObject.Name
}

func source(event *corev1.Event) string {
	component := cmp.Or(event.Source.Component, event.ReportingController)
	if instance := cmp.Or(event.Source.Host, event.ReportingInstance); instance != "" {
		return component + ", " + instance
	}
	return component
}
