package event

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// Limits of the texts of an event that has an event time, in bytes.
const (
	maxReportingInstance = 128
	maxAction            = 128
	maxReason            = 128
	maxNote              = 1024
)

// validateCreate checks a new event. core/v1 has taken nearly anything from its first day, and still does.
func validateCreate(event *corev1.Event, version schema.GroupVersion) field.ErrorList {
	errs := validateAnyVersion(event, version)
	if version == corev1.SchemeGroupVersion {
		return errs
	}
	errs = append(errs, core.ValidateObjectMeta(&event.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	errs = append(errs, validateSeries(event)...)
	if event.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if event.Type != corev1.EventTypeNormal && event.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", event.Type)))
	}
	for _, unset := range []struct {
		name string
		ok   bool
	}{
		{"firstTimestamp", event.FirstTimestamp.IsZero()},
		{"lastTimestamp", event.LastTimestamp.IsZero()},
		{"count", event.Count == 0},
		{"source", event.Source == corev1.EventSource{}},
	} {
		if !unset.ok {
			errs = append(errs, field.Invalid(field.NewPath(unset.name), "", "needs to be unset"))
		}
	}
	return errs
}

// validateUpdate checks a changed event. By events.k8s.io/v1, no more than the series may change.
func validateUpdate(event, old *corev1.Event, version schema.GroupVersion) field.ErrorList {
	errs := validateAnyVersion(event, version)
	if version == corev1.SchemeGroupVersion {
		return errs
	}
	errs = append(errs, core.ValidateObjectMetaUpdate(&event.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))...)
	if !equality.Semantic.DeepEqual(event.Series, old.Series) {
		errs = append(errs, validateSeries(event)...)
	}
	// Clients differ in how they write fractions of a microsecond.
	eventTime := old.EventTime
	if !event.EventTime.Truncate(time.Microsecond).Equal(old.EventTime.Truncate(time.Microsecond)) {
		eventTime = event.EventTime
	}
	for _, fixed := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", event.InvolvedObject, old.InvolvedObject},
		{"reason", event.Reason, old.Reason},
		{"message", event.Message, old.Message},
		{"source", event.Source, old.Source},
		{"firstTimestamp", event.FirstTimestamp, old.FirstTimestamp},
		{"lastTimestamp", event.LastTimestamp, old.LastTimestamp},
		{"count", event.Count, old.Count},
		{"reason", event.Reason, old.Reason}, // Twice, as in Kubernetes.
		{"type", event.Type, old.Type},
		{"eventTime", eventTime, old.EventTime},
		{"action", event.Action, old.Action},
		{"related", event.Related, old.Related},
		{"reportingController", event.ReportingController, old.ReportingController},
		{"reportingInstance", event.ReportingInstance, old.ReportingInstance},
	} {
		errs = append(errs, apivalidation.ValidateImmutableField(fixed.now, fixed.was, field.NewPath(fixed.name))...)
	}
	return errs
}

func validateSeries(event *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	if event.Series == nil {
		return nil
	}
	if event.Series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if event.Series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// validateAnyVersion checks what both APIs ask. An event time marks the events of newer clients, of which more is asked.
func validateAnyVersion(event *corev1.Event, version schema.GroupVersion) field.ErrorList {
	var errs field.ErrorList
	if event.EventTime.IsZero() {
		errs = validateNamespaceOfOld(event)
	} else {
		errs = validateNew(event, version)
	}
	for _, message := range validation.IsDNS1123Subdomain(event.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("namespace"), event.Namespace, message))
	}
	return errs
}

// validateNamespaceOfOld checks that an event stands where its object does; events of objects without a namespace are
// put into the default one by old clients.
func validateNamespaceOfOld(event *corev1.Event) field.ErrorList {
	about := event.InvolvedObject.Namespace
	if about == event.Namespace || (about == "" && event.Namespace == metav1.NamespaceDefault) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")}
}

func validateNew(event *corev1.Event, version schema.GroupVersion) field.ErrorList {
	var errs field.ErrorList
	about := event.InvolvedObject.Namespace
	if about == "" && event.Namespace != metav1.NamespaceDefault && event.Namespace != metav1.NamespaceSystem {
		errs = append(errs, field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace"))
	}
	controller := field.NewPath("reportingController")
	if version == corev1.SchemeGroupVersion {
		controller = field.NewPath("reportingComponent")
	}
	if event.ReportingController == "" {
		errs = append(errs, field.Required(controller, ""))
	}
	for _, message := range validation.IsQualifiedName(event.ReportingController) {
		errs = append(errs, field.Invalid(controller, event.ReportingController, message))
	}
	errs = append(errs, validateText("reportingInstance", event.ReportingInstance, maxReportingInstance)...)
	errs = append(errs, validateText("action", event.Action, maxAction)...)
	errs = append(errs, validateText("reason", event.Reason, maxReason)...)
	if len(event.Message) > maxNote {
		errs = append(errs, tooLong("message", maxNote))
	}
	return errs
}

// validateText checks a text that must be there and have at most limit bytes.
func validateText(name, text string, limit int) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(field.NewPath(name), "")}
	}
	if len(text) > limit {
		return field.ErrorList{tooLong(name, limit)}
	}
	return nil
}

func tooLong(name string, limit int) *field.Error {
	return field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %v characters", limit))
}
