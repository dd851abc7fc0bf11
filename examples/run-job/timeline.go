package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
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

// The milestones of a pod's life that the report shows.
const (
	milestoneCreated   = "created"
	milestoneScheduled = "scheduled"
	milestoneStarted   = "started"
	milestoneFinished  = "finished"
)

// change is one observed step of an object.
type change struct {
	what      string
	milestone string // empty for steps that the report does not show
}

// name is how an object is called in the timeline.
func name(kind string, object metav1.Object) string {
	return strings.ToLower(kind) + " " + strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
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

// progress is how far a Job has come: succeeded of total. A work queue has no total.
func progress(job *batchv1.Job) string {
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
		step := change{what: conditionText(string(c.Type), string(c.Status), c.Reason, c.Message)}
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			step.milestone = milestoneFinished
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
		changes = append(changes, change{what: "waits: " + why})
	}
	if n := restarts(pod); n > restarts(old) {
		changes = append(changes, change{what: fmt.Sprintf("container restarted, %d times so far", n)})
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
		return []change{{what: fmt.Sprintf("Failed, exit code %d", exitCode(pod)), milestone: milestoneFinished}}
	default:
		return nil
	}
}

// podGroupChanges says what happened to a pod group between two observations; old is nil for a new one.
func podGroupChanges(old, group *schedulingv1alpha2.PodGroup) []change {
	if old == nil {
		created := change{what: "created: " + policyText(group.Spec.SchedulingPolicy), milestone: milestoneCreated}
		return append([]change{created}, podGroupChanges(&schedulingv1alpha2.PodGroup{}, group)...)
	}
	var changes []change
	for _, c := range group.Status.Conditions {
		i := conditionIndex(old.Status.Conditions, c.Type)
		if i >= 0 && old.Status.Conditions[i].Status == c.Status && old.Status.Conditions[i].Message == c.Message {
			continue
		}
		step := change{what: conditionText(c.Type, string(c.Status), c.Reason, c.Message)}
		if c.Type == schedulingv1alpha2.PodGroupScheduled && c.Status == metav1.ConditionTrue {
			step.milestone = milestoneScheduled
		}
		changes = append(changes, step)
	}
	return changes
}

// workloadChanges says what a new Workload holds; its spec never changes.
func workloadChanges(old, workload *schedulingv1alpha2.Workload) []change {
	if old != nil {
		return nil
	}
	var templates []string
	for _, t := range workload.Spec.PodGroupTemplates {
		templates = append(templates, t.Name+": "+policyText(t.SchedulingPolicy))
	}
	return []change{{what: "created: " + strings.Join(templates, "; "), milestone: milestoneCreated}}
}

// eventChanges shows the warnings that no status of an object shows already.
func eventChanges(old, event *corev1.Event) []change {
	if old != nil || event.Type != corev1.EventTypeWarning || event.Reason == "FailedScheduling" {
		return nil
	}
	return []change{{what: event.Reason + ": " + event.Message}}
}

func policyText(policy schedulingv1alpha2.PodGroupSchedulingPolicy) string {
	if policy.Gang != nil {
		return fmt.Sprintf("gang of at least %d", policy.Gang.MinCount)
	}
	return "basic"
}

func conditionText(kind, status, reason, message string) string {
	parts := []string{kind}
	if status != string(metav1.ConditionTrue) {
		parts[0] += "=" + status
	}
	for _, part := range []string{reason, message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

func conditionIndex(conditions []metav1.Condition, kind string) int {
	for i := range conditions {
		if conditions[i].Type == kind {
			return i
		}
	}
	return -1
}

// pendingReason is why a pod has no node, in the scheduler's words.
func pendingReason(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

func groupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, s := range pod.Status.ContainerStatuses {
		n += s.RestartCount
	}
	return n
}

// exitCode is the code of the first container that ended with another than 0.
func exitCode(pod *corev1.Pod) int32 {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range statuses {
			if s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 {
				return s.State.Terminated.ExitCode
			}
		}
	}
	return 0
}
