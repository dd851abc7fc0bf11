package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/core"
)

// jobView is an unfinished Job with all that may tell what it waits for.
type jobView struct {
	job    *batchv1.Job
	pods   []*corev1.Pod
	events []*corev1.Event // the oldest first
	world  *world
	now    time.Time
	delay  time.Duration // the Job controller's first back-off
}

// jobCheck looks at one thing that may keep a Job from its end, and says nothing when that is not it.
type jobCheck struct {
	what string
	why  func(jobView) []string
	// alone says that nothing else matters when this is it.
	alone bool
}

// jobChecks are tried in this order.
func jobChecks() []jobCheck {
	return []jobCheck{
		{"another controller's Job", anothersJob, true},
		{"deletion", jobDeletion, true},
		{"suspension", suspension, true},
		{"no parallelism", noParallelism, true},
		{"conditions", jobConditionTexts, false},
		{"gangs without room", gangsWithoutRoom, false},
		{"pods that have not ended", podsNotEnded, false},
		{"events about pods that are missing", tellingEvents, false},
		{"back-off", backoff, false},
		{"no pods", noPods, false},
	}
}

// waitsFor says what keeps the Job from its end.
func (v jobView) waitsFor() string {
	var parts []string
	for _, check := range jobChecks() {
		answers := check.why(v)
		parts = append(parts, answers...)
		if check.alone && len(answers) > 0 {
			break
		}
	}
	if len(parts) == 0 {
		return "is about to end: its pods have"
	}
	return strings.Join(parts, ", ")
}

func anothersJob(v jobView) []string {
	if batch.ManagedByBuiltIn(v.job) {
		return nil
	}
	parts := []string{fmt.Sprintf("waits for the controller that spec.managedBy names, %q, which does not run here", batch.ManagedBy(v.job))}
	return append(parts, podsNotEnded(v)...)
}

func jobDeletion(v jobView) []string {
	if v.job.DeletionTimestamp == nil {
		return nil
	}
	return []string{"is being deleted" + because(finalizers(v.job))}
}

func suspension(v jobView) []string {
	if v.job.Spec.Suspend == nil || !*v.job.Spec.Suspend {
		return nil
	}
	return append([]string{"is suspended: spec.suspend is true"}, podsNotEnded(v)...)
}

func noParallelism(v jobView) []string {
	if v.job.Spec.Parallelism == nil || *v.job.Spec.Parallelism != 0 {
		return nil
	}
	return append([]string{"has no new pods: spec.parallelism is 0"}, podsNotEnded(v)...)
}

// jobConditionTexts are the conditions that hold and do not end the Job: it is to fail, or has succeeded, and its pods
// are being stopped; or the controller says in another one what it waits for.
func jobConditionTexts(v jobView) []string {
	var parts []string
	for _, c := range v.job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			parts = append(parts, "has the condition "+joined(string(c.Type), c.Reason, c.Message))
		}
	}
	return parts
}

// gangsWithoutRoom are the pod groups of the Job that have not been placed: those that it owns, and those of others that
// its pods name.
func gangsWithoutRoom(v jobView) []string {
	groups := map[string]*schedulingv1alpha2.PodGroup{}
	for _, group := range all[*schedulingv1alpha2.PodGroup](v.world) {
		if metav1.IsControlledBy(group, v.job) {
			groups[group.Name] = group
		}
	}
	for _, pod := range v.pods {
		for _, group := range v.world.groupsOf(pod) {
			groups[group.Name] = group
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if text := v.world.gangText(groups[name]); text != "" {
			parts = append(parts, text)
		}
	}
	return parts
}

// groupsOf returns the pod group that a pod names, if it exists.
func (w *world) groupsOf(pod *corev1.Pod) []*schedulingv1alpha2.PodGroup {
	if group := named[*schedulingv1alpha2.PodGroup](w, pod.Namespace, groupOf(pod)); group != nil {
		return []*schedulingv1alpha2.PodGroup{group}
	}
	return nil
}

// gangText says what a gang waits for, and nothing of one that was placed.
func (w *world) gangText(group *schedulingv1alpha2.PodGroup) string {
	gang := group.Spec.SchedulingPolicy.Gang
	if gang == nil {
		return ""
	}
	exist, placed, succeeded := 0, 0, 0
	for _, pod := range w.members(group) {
		switch {
		case pod.Status.Phase == corev1.PodSucceeded:
			succeeded++
		case core.PodFinished(pod):
		case pod.Spec.NodeName != "":
			exist, placed = exist+1, placed+1
		default:
			exist++
		}
	}
	needed := int(gang.MinCount) - succeeded
	switch {
	case placed >= needed:
		return ""
	case exist < needed:
		return fmt.Sprintf("gang %s waits for more pods: %d start together, %d exist", group.Name, needed, exist)
	}
	text := fmt.Sprintf("gang %s waits until %d pods fit at once (%d exist, %d placed)", group.Name, needed, exist, placed)
	if i := conditionIndex(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled); i >= 0 && group.Status.Conditions[i].Status != metav1.ConditionTrue {
		text += because(group.Status.Conditions[i].Message)
	}
	if others := w.holders(group); len(others) > 0 {
		text += ", room is held by " + few(others)
	}
	return text
}

// podsNotEnded names the pods that have not ended, those that wait for the same thing together.
func podsNotEnded(v jobView) []string {
	waiting, running := map[string][]string{}, map[string][]string{}
	for _, pod := range v.pods {
		if core.PodFinished(pod) {
			continue
		}
		list := waiting
		if pod.Status.Phase == corev1.PodRunning {
			list = running
		}
		reason := v.world.podWaitsFor(pod)
		list[reason] = append(list[reason], pod.Name)
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(waiting)) {
		parts = append(parts, "pending: "+few(waiting[reason])+because(reason))
	}
	for _, reason := range slices.Sorted(maps.Keys(running)) {
		verb := " are running"
		if len(running[reason]) == 1 {
			verb = " is running"
		}
		parts = append(parts, plural(len(running[reason]), "pod")+verb+because(reason))
	}
	return parts
}

// tellingEvents are the newest Events of each kind about a Job that has fewer pods than it wants: why none are made.
// Those that came before the last pod that was made have been answered by it.
func tellingEvents(v jobView) []string {
	if v.active() >= v.wanted() {
		return nil
	}
	newest := map[string]string{}
	for _, e := range v.events {
		switch {
		case e.Reason == "SuccessfulCreate":
			clear(newest)
		case !slices.Contains(untold, e.Reason):
			newest[e.Reason] = joined(e.Reason, e.Message)
		}
	}
	if len(newest) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("lacks %s (%s)", plural(v.wanted()-v.active(), "pod"), strings.Join(slices.Sorted(maps.Values(newest)), ", "))}
}

// active is how many pods of the Job there are that have not ended and are not being deleted.
func (v jobView) active() int {
	n := 0
	for _, pod := range v.pods {
		if core.PodActive(pod) {
			n++
		}
	}
	return n
}

// wanted is how many the Job should have now.
func (v jobView) wanted() int {
	wanted := 1
	if v.job.Spec.Parallelism != nil {
		wanted = int(*v.job.Spec.Parallelism)
	}
	switch {
	case v.job.Spec.Completions == nil && v.job.Status.Succeeded > 0:
		return 0 // of a work queue whose end one pod has found
	case v.job.Spec.Completions != nil:
		wanted = min(wanted, int(*v.job.Spec.Completions-v.job.Status.Succeeded))
	}
	return wanted
}

// backoff says when failed pods are replaced, as far as the pods that are left tell: the delay doubles with each failure
// since the last success, or with each failure of an index that has a limit of its own.
func backoff(v jobView) []string {
	if v.active() >= v.wanted() || slices.ContainsFunc(tellingEvents(v), tellsOfBackoff) {
		return nil
	}
	var failures int
	var last time.Time
	if v.job.Spec.BackoffLimitPerIndex != nil {
		failures, last = v.failuresOfIndex()
	} else {
		failures, last = v.failures()
	}
	if failures == 0 {
		return nil
	}
	delay := v.delay
	for n := 1; n < failures && delay < job.DefaultMaxPodBackoff; n++ {
		delay *= 2
	}
	due := last.Add(min(delay, job.DefaultMaxPodBackoff))
	if !due.After(v.now) {
		return nil
	}
	return []string{fmt.Sprintf("waits for its back-off after %s in a row: the next pod is due in %s", plural(failures, "failure"), due.Sub(v.now).Round(time.Second/10))}
}

// tellsOfBackoff reports whether a text of the controller's own says it, which knows better.
func tellsOfBackoff(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "back-off") || strings.Contains(text, "backoff")
}

// failures counts the pods that have failed since one succeeded.
func (v jobView) failures() (n int, last time.Time) {
	var success time.Time
	for _, pod := range v.pods {
		if finish := core.FinishTime(pod); pod.Status.Phase == corev1.PodSucceeded && finish.After(success) {
			success = finish
		}
	}
	for _, pod := range v.pods {
		if finish := core.FinishTime(pod); pod.Status.Phase == corev1.PodFailed && finish.After(success) {
			n++
			if finish.After(last) {
				last = finish
			}
		}
	}
	return n, last
}

// failuresOfIndex counts the failures of the index that failed first of those that have no pod now.
func (v jobView) failuresOfIndex() (n int, last time.Time) {
	newest := map[int]*corev1.Pod{}
	for _, pod := range v.pods {
		index, ok := batch.CompletionIndex(pod)
		if old := newest[index]; ok && (old == nil || core.FinishTime(pod).After(core.FinishTime(old)) || !core.PodFinished(pod)) {
			newest[index] = pod
		}
	}
	for _, pod := range newest {
		finish := core.FinishTime(pod)
		if pod.Status.Phase == corev1.PodFailed && (last.IsZero() || finish.Before(last)) {
			counted, ignored := batch.IndexFailures(pod)
			n, last = int(counted+ignored)+1, finish
		}
	}
	return n, last
}

// noPods is what is left to say of a Job that has no pods and nothing to show for it.
func noPods(v jobView) []string {
	if v.active() > 0 || v.wanted() <= 0 || len(tellingEvents(v)) > 0 || len(backoff(v)) > 0 || len(jobConditionTexts(v)) > 0 {
		return nil
	}
	for _, pod := range v.pods {
		if !core.PodFinished(pod) {
			return nil // it is being deleted, and replaced then
		}
	}
	if len(v.pods) > 0 {
		return []string{"has no pods now, a new one is about to be made"}
	}
	return []string{"has no pods yet"}
}

func finalizers(object metav1.Object) string {
	if names := object.GetFinalizers(); len(names) > 0 {
		return "held by finalizers " + few(names)
	}
	return ""
}
