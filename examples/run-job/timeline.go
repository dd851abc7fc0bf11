package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// entry is one line of the timeline: what became of an object, and when.
type entry struct {
	At       offset `json:"at"`
	Object   string `json:"object"`
	What     string `json:"what"`
	Progress string `json:"progress,omitempty"`
}

// offset is the time since the start, in seconds to the millisecond.
type offset time.Duration

// MarshalJSON writes seconds as a number.
func (o offset) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(time.Duration(o).Seconds()*1000) / 1000)
}

func (o offset) String() string { return fmt.Sprintf("%.3fs", time.Duration(o).Seconds()) }

// The milestones of an object's life that the report shows.
const (
	milestoneCreated   = "created"
	milestoneWaiting   = "waiting" // for room on the nodes
	milestoneScheduled = "scheduled"
	milestoneStarted   = "started"
	milestoneFinished  = "finished"
)

// change is one observed step of an object.
type change struct {
	what      string
	milestone string // empty for steps that the report does not show
	// kind and label say how a drawing marks the step; it does not where the kind is life.NoMark.
	kind  life.Kind
	label string
}

// subject is what an observation is about.
type subject struct {
	name string    // as the timeline calls it
	job  types.UID // the Job that it belongs to, if any
}

func subjectOf(object metav1.Object) subject {
	if event, ok := object.(*corev1.Event); ok {
		about := event.InvolvedObject
		return subject{called(about.Kind, &metav1.ObjectMeta{Namespace: about.Namespace, Name: about.Name}), about.UID}
	}
	return subject{called(kindOf(object), object), owningJob(object)}
}

func kindOf(object metav1.Object) string {
	switch object.(type) {
	case *batchv1.Job:
		return "Job"
	case *corev1.Pod:
		return "Pod"
	case *corev1.Node:
		return "Node"
	case *schedulingv1alpha2.Workload:
		return "Workload"
	case *schedulingv1alpha2.PodGroup:
		return "PodGroup"
	default:
		return "object"
	}
}

// called is how an object is called in the timeline.
func called(kind string, object metav1.Object) string {
	return strings.ToLower(kind) + " " + qualified(object)
}

// changes says what has happened to an object since it was seen last.
func (w *world) changes(object metav1.Object) []change {
	uid := object.GetUID()
	switch object := object.(type) {
	case *batchv1.Job:
		return jobChanges(withUID[*batchv1.Job](w, uid), object)
	case *corev1.Pod:
		return podChanges(withUID[*corev1.Pod](w, uid), object)
	case *corev1.Node:
		return nodeChanges(withUID[*corev1.Node](w, uid), object)
	case *schedulingv1alpha2.Workload:
		return workloadChanges(withUID[*schedulingv1alpha2.Workload](w, uid), object)
	case *schedulingv1alpha2.PodGroup:
		return podGroupChanges(withUID[*schedulingv1alpha2.PodGroup](w, uid), object, w.holders)
	case *corev1.Event:
		return eventChanges(withUID[*corev1.Event](w, uid), object, w.nameOf)
	default:
		return nil
	}
}

// nameOf returns how the timeline calls the object with a UID, "" when it is not known.
func (w *world) nameOf(uid types.UID) string {
	if object, known := w.objects[uid]; known {
		return subjectOf(object).name
	}
	return ""
}

// owningJob returns the UID of the Job that controls an object, or the object's own when it is a Job.
func owningJob(object metav1.Object) types.UID {
	if _, isJob := object.(*batchv1.Job); isJob {
		return object.GetUID()
	}
	if ref := metav1.GetControllerOf(object); ref != nil && ref.Kind == "Job" {
		return ref.UID
	}
	return ""
}

// progressOf is how far a Job has come: succeeded of total. A work queue has no total.
func progressOf(job *batchv1.Job) string {
	if job.Spec.Completions == nil {
		return fmt.Sprintf("%d done", job.Status.Succeeded)
	}
	return fmt.Sprintf("%d/%d", job.Status.Succeeded, *job.Spec.Completions)
}

// jobChanges says what happened to a Job between two observations; old is nil for a new one.
func jobChanges(old, job *batchv1.Job) []change {
	if old == nil {
		changes := []change{{what: "created", milestone: milestoneCreated}}
		return append(changes, jobChanges(&batchv1.Job{}, job)...)
	}
	var changes []change
	was, is := old.Status, job.Status
	if was.Active != is.Active || was.Succeeded != is.Succeeded || was.Failed != is.Failed {
		changes = append(changes, change{what: fmt.Sprintf("%d active, %d succeeded, %d failed", is.Active, is.Succeeded, is.Failed)})
	}
	for _, c := range is.Conditions {
		before := batch.Condition(old, c.Type)
		if before != nil && before.Status == c.Status || before == nil && c.Status != corev1.ConditionTrue {
			continue
		}
		step := change{what: conditionText(string(c.Type), string(c.Status), c.Reason, c.Message), kind: life.Note, label: string(c.Type)}
		switch {
		case c.Status != corev1.ConditionTrue:
			step.label += "=" + string(c.Status)
		case c.Type == batchv1.JobComplete:
			step.milestone, step.kind = milestoneFinished, life.Good
		case c.Type == batchv1.JobFailed:
			step.milestone, step.kind = milestoneFinished, life.Bad
		}
		changes = append(changes, step)
	}
	return changes
}

// podChanges says what happened to a pod between two observations; old is nil for a new one.
func podChanges(old, pod *corev1.Pod) []change {
	if old == nil {
		what := "created"
		if group := groupOf(pod); group != "" {
			what += " in pod group " + group
		}
		return append([]change{{what: what, milestone: milestoneCreated}}, podChanges(&corev1.Pod{}, pod)...)
	}
	var changes []change
	if old.Spec.NodeName == "" && pod.Spec.NodeName != "" {
		changes = append(changes, change{what: "bound to node " + pod.Spec.NodeName, milestone: milestoneScheduled})
	}
	if why := pendingReason(pod); why != "" && why != pendingReason(old) {
		changes = append(changes, change{what: "waits: " + why, milestone: milestoneWaiting})
	}
	if n := restarts(pod); n > restarts(old) {
		changes = append(changes, change{what: fmt.Sprintf("container restarted, %d times so far", n)})
	}
	if c := disruption(pod); c != nil && disruption(old) == nil {
		changes = append(changes, change{what: "disrupted: " + joined(c.Reason, c.Message), kind: life.Note, label: "disrupted"})
	}
	if pod.DeletionTimestamp != nil && old.DeletionTimestamp == nil && !core.PodFinished(pod) {
		changes = append(changes, change{what: "being deleted"})
	}
	if old.Status.Phase != pod.Status.Phase {
		changes = append(changes, phaseChange(pod)...)
	}
	return changes
}

func phaseChange(pod *corev1.Pod) []change {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return []change{{what: "Running", milestone: milestoneStarted}}
	case corev1.PodSucceeded:
		return []change{{what: "Succeeded", milestone: milestoneFinished}}
	case corev1.PodFailed:
		what := "Failed"
		if code := exitCode(pod); code != nil {
			what += fmt.Sprintf(", exit code %d", *code)
		}
		if pod.Status.Reason != "" {
			what += ": " + joined(pod.Status.Reason, pod.Status.Message)
		}
		return []change{{what: what, milestone: milestoneFinished}}
	default:
		return nil
	}
}

// disruption returns the condition that says that a pod is to go through no fault of its own: it is preempted, its node
// is lost (KEP-3329).
func disruption(pod *corev1.Pod) *corev1.PodCondition {
	if c := core.PodCondition(pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

// podGroupChanges says what happened to a pod group between two observations; old is nil for a new one. For a group that
// waits for room, holders says who holds it.
func podGroupChanges(old, group *schedulingv1alpha2.PodGroup, holders func(*schedulingv1alpha2.PodGroup) []string) []change {
	if old == nil {
		created := change{what: "created: " + policyText(group.Spec.SchedulingPolicy), milestone: milestoneCreated}
		if priority := group.Spec.Priority; priority != nil && *priority != 0 {
			created.what += fmt.Sprintf(", priority %d", *priority)
		}
		return append([]change{created}, podGroupChanges(&schedulingv1alpha2.PodGroup{}, group, holders)...)
	}
	var changes []change
	for _, c := range group.Status.Conditions {
		i := conditionIndex(old.Status.Conditions, c.Type)
		if i >= 0 && old.Status.Conditions[i].Status == c.Status && old.Status.Conditions[i].Message == c.Message {
			continue
		}
		step := change{what: conditionText(c.Type, string(c.Status), c.Reason, c.Message)}
		if c.Type == schedulingv1alpha2.PodGroupScheduled {
			switch c.Status {
			case metav1.ConditionTrue:
				step.milestone, step.kind, step.label = milestoneScheduled, life.Admitted, "admitted"
			case metav1.ConditionFalse:
				step.milestone, step.kind, step.label = milestoneWaiting, life.Held, "no room"
				if others := holders(group); len(others) > 0 {
					step.what += "; room is held by " + few(others)
				}
			}
		}
		changes = append(changes, step)
	}
	return changes
}

// nodeChanges says what happened to a node between two observations; old is nil for a new one.
func nodeChanges(old, node *corev1.Node) []change {
	if old == nil {
		return []change{{what: "created"}}
	}
	is := nodeReady(node)
	switch is.Status {
	case nodeReady(old).Status:
		return nil
	case corev1.ConditionTrue:
		return []change{{what: "Ready", kind: life.Good, label: node.Name + " Ready"}}
	default:
		return []change{{what: "not Ready" + because(joined(is.Reason, is.Message)), kind: life.Bad, label: node.Name + " not Ready"}}
	}
}

// nodeReady returns the Ready condition of a node, or an empty one.
func nodeReady(node *corev1.Node) corev1.NodeCondition {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{}
}

// workloadChanges says what a new Workload holds; its spec never changes.
func workloadChanges(old, workload *schedulingv1alpha2.Workload) []change {
	if old != nil {
		return nil
	}
	return []change{{what: "created: " + strings.Join(templates(workload), "; "), milestone: milestoneCreated}}
}

// untold are the reasons of Events whose facts the timeline has from the objects themselves.
var untold = []string{
	"Completed", "FailedScheduling", "Scheduled", "SuccessfulCreate", "SuccessfulDelete", "Suspended", "Resumed", "WorkloadCreated",
	batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonFailedIndexes,
	batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonPodFailurePolicy,
}

// eventChanges tells an Event that says what no object says; old is nil for a new one. The one that tells who has
// preempted a pod has a UID, which nameOf makes a name.
func eventChanges(old, event *corev1.Event, nameOf func(types.UID) string) []change {
	if slices.Contains(untold, event.Reason) || old != nil && old.Message == event.Message {
		return nil
	}
	words := strings.Split(event.Message, " ")
	for i, word := range words {
		if name := nameOf(types.UID(word)); name != "" {
			words[i] = name
			if kind, _, _ := strings.Cut(name, " "); i > 0 && words[i-1] == kind {
				words[i-1] = ""
			}
		}
	}
	text := strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
	return []change{{what: joined(event.Reason, text), kind: life.Note, label: event.Reason}}
}

func policyText(policy schedulingv1alpha2.PodGroupSchedulingPolicy) string {
	if policy.Gang != nil {
		return fmt.Sprintf("gang of at least %d", policy.Gang.MinCount)
	}
	return "basic"
}

func conditionText(kind, status, reason, message string) string {
	if status != string(metav1.ConditionTrue) {
		kind += "=" + status
	}
	return joined(kind, reason, message)
}

// joined puts colons between those of the parts that are there.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

func conditionIndex(conditions []metav1.Condition, kind string) int {
	for i := range conditions {
		if conditions[i].Type == kind {
			return i
		}
	}
	return -1
}

// few lists words, or the first of many with the number of the others.
func few(words []string) string {
	const most = 5
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most-2], ", "), len(words)-(most-2))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
