package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// ValidateStatusUpdate says what an API server of Kubernetes 1.36 holds against replacing the status of the stored Job
// old by that of job (KEP-4368). The spec in force is the one of job, which [PrepareForStatusUpdate] sets to the
// stored one.
//
// Most rules apply only when a field they speak of changes, so that a status which breaks a rule already does not stop
// updates of its other fields. Counters, terminal conditions and completionTime only ever move forward.
func ValidateStatusUpdate(job, old *batchv1.Job) field.ErrorList {
	if job == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Job")}
	}
	errs := core.ValidateObjectMetaUpdate(&job.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	check := newStatusCheck(job, old)
	check.counts()
	check.terminalConditions()
	check.finished()
	check.indexes()
	check.interimConditions()
	check.transitions()
	return append(errs, check.errs...)
}

// statusCheck holds one validation of a status: both sides, what of them changed, and what was found.
type statusCheck struct {
	job, old *batchv1.Job
	changed  statusChanges
	errs     field.ErrorList
}

// statusChanges says which parts of a status differ from the stored one. Conditions count as their status being True.
type statusChanges struct {
	complete, failed, finished, failureTarget, criteriaMet bool
	completedIndexes, failedIndexes                        bool
	active, ready, terminating, uncounted                  bool
	startTime, completionTime                              bool
}

func newStatusCheck(job, old *batchv1.Job) *statusCheck {
	is, was := &job.Status, &old.Status
	turned := func(t batchv1.JobConditionType) bool { return HasCondition(job, t) != HasCondition(old, t) }
	_, finished := Finished(job)
	_, wasFinished := Finished(old)
	return &statusCheck{job: job, old: old, changed: statusChanges{
		complete: turned(batchv1.JobComplete), failed: turned(batchv1.JobFailed), finished: finished != wasFinished,
		failureTarget: turned(batchv1.JobFailureTarget), criteriaMet: turned(batchv1.JobSuccessCriteriaMet),
		completedIndexes: is.CompletedIndexes != was.CompletedIndexes,
		failedIndexes:    !same(is.FailedIndexes, was.FailedIndexes),
		active:           is.Active != was.Active, ready: !same(is.Ready, was.Ready), terminating: !same(is.Terminating, was.Terminating),
		uncounted: !equality.Semantic.DeepEqual(is.UncountedTerminatedPods, was.UncountedTerminatedPods),
		startTime: !is.StartTime.Equal(was.StartTime), completionTime: !is.CompletionTime.Equal(was.CompletionTime),
	}}
}

// same reports whether both are absent or both hold the same value.
func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func (c *statusCheck) has(t batchv1.JobConditionType) bool { return HasCondition(c.job, t) }

func (c *statusCheck) invalid(name string, value any, detail string) {
	c.errs = append(c.errs, field.Invalid(field.NewPath("status", name), value, detail))
}

func (c *statusCheck) badConditions(detail string) {
	c.invalid("conditions", field.OmitValueType{}, detail)
}

// counts checks what holds always: no counter is negative, no pod is listed twice.
func (c *statusCheck) counts() {
	status, path := &c.job.Status, field.NewPath("status")
	check := func(name string, value int32) {
		c.errs = append(c.errs, apivalidation.ValidateNonnegativeField(int64(value), path.Child(name))...)
	}
	check("active", status.Active)
	check("succeeded", status.Succeeded)
	check("failed", status.Failed)
	if status.Ready != nil {
		check("ready", *status.Ready)
	}
	if status.Terminating != nil {
		check("terminating", *status.Terminating)
	}
	if uncounted := status.UncountedTerminatedPods; uncounted != nil {
		seen := sets.New[types.UID]()
		c.uncountedPods(uncounted.Succeeded, seen, path.Child("uncountedTerminatedPods", "succeeded"))
		c.uncountedPods(uncounted.Failed, seen, path.Child("uncountedTerminatedPods", "failed"))
	}
}

func (c *statusCheck) uncountedPods(uids []types.UID, seen sets.Set[types.UID], path *field.Path) {
	for i, uid := range uids {
		switch {
		case uid == "":
			c.errs = append(c.errs, field.Invalid(path.Index(i), uid, "must not be empty"))
		case seen.Has(uid):
			c.errs = append(c.errs, field.Duplicate(path.Index(i), uid))
		default:
			seen.Insert(uid)
		}
	}
}

// terminalConditions checks Complete and Failed against the other conditions and against the times.
func (c *statusCheck) terminalConditions() {
	status, changed := &c.job.Status, &c.changed
	complete, failed := c.has(batchv1.JobComplete), c.has(batchv1.JobFailed)
	if (changed.complete || changed.failed) && complete && failed {
		c.badConditions("cannot set Complete=True and Failed=true conditions")
	}
	if (changed.complete || changed.failureTarget) && complete && c.has(batchv1.JobFailureTarget) {
		c.badConditions("cannot set Complete=True and FailureTarget=true conditions")
	}
	if changed.complete || changed.completionTime {
		if status.CompletionTime != nil && !complete {
			c.invalid("completionTime", status.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
		}
		if status.CompletionTime == nil && complete {
			c.errs = append(c.errs, field.Required(field.NewPath("status", "completionTime"), "completionTime is required for Complete jobs"))
		}
	}
	if (changed.startTime || changed.completionTime) && before(status.CompletionTime, status.StartTime) {
		c.invalid("completionTime", status.CompletionTime, "must be equal to or after `startTime`")
	}
	if (changed.failed || changed.failedIndexes) && failed && !c.has(batchv1.JobFailureTarget) {
		c.badConditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (changed.complete || changed.criteriaMet) && complete && !c.has(batchv1.JobSuccessCriteriaMet) {
		c.badConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
}

func before(a, b *metav1.Time) bool { return a != nil && b != nil && a.Before(b) }

// finished checks what a Job that has ended must have left behind.
func (c *statusCheck) finished() {
	status, changed := &c.job.Status, &c.changed
	if _, finished := Finished(c.job); !finished {
		return
	}
	if (changed.finished || changed.active) && status.Active > 0 {
		c.invalid("active", status.Active, "active>0 is invalid for finished job")
	}
	if (changed.finished || changed.startTime) && status.StartTime == nil && !suspendedWithoutWork(&c.job.Spec) {
		c.errs = append(c.errs, field.Required(field.NewPath("status", "startTime"), "startTime is required for finished job"))
	}
	uncounted := status.UncountedTerminatedPods
	if (changed.finished || changed.uncounted) && uncounted != nil && len(uncounted.Succeeded)+len(uncounted.Failed) > 0 {
		c.invalid("uncountedTerminatedPods", uncounted, "must be empty for finished job")
	}
}

// suspendedWithoutWork reports whether a Job may end without ever starting: it is suspended and has nothing to do.
func suspendedWithoutWork(spec *batchv1.JobSpec) bool {
	return spec.Suspend != nil && *spec.Suspend && spec.Completions != nil && *spec.Completions == 0
}

// interimConditions checks counters against each other and the conditions that announce an end.
func (c *statusCheck) interimConditions() {
	status, changed := &c.job.Status, &c.changed
	_, finished := Finished(c.job)
	if (changed.finished || changed.terminating) && finished && status.Terminating != nil && *status.Terminating > 0 {
		c.invalid("terminating", *status.Terminating, "terminating>0 is invalid for finished job")
	}
	if (changed.ready || changed.active) && status.Ready != nil && *status.Ready > status.Active {
		c.invalid("ready", *status.Ready, "cannot set more ready pods than active")
	}
	criteriaMet := c.has(batchv1.JobSuccessCriteriaMet)
	if criteriaMet && c.has(batchv1.JobFailed) {
		c.badConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if criteriaMet && c.has(batchv1.JobFailureTarget) {
		c.badConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if c.job.Spec.SuccessPolicy != nil && !criteriaMet && c.has(batchv1.JobComplete) {
		c.badConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// transitions checks what only the stored status can tell: what went backwards.
func (c *statusCheck) transitions() {
	is, was := &c.job.Status, &c.old.Status
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if HasCondition(c.old, t) && !c.has(t) {
			c.badConditions(fmt.Sprintf("cannot disable the terminal %s=True condition", t))
		}
	}
	if is.Failed < was.Failed {
		c.invalid("failed", is.Failed, "cannot decrease the failed counter")
	}
	// Scaling an elastic Job down takes succeeded indexes away.
	elastic := isIndexed(&c.job.Spec) && same(c.job.Spec.Completions, c.job.Spec.Parallelism)
	if is.Succeeded < was.Succeeded && !elastic {
		c.invalid("succeeded", is.Succeeded, "cannot decrease the succeeded counter")
	}
	if c.changed.completionTime && is.CompletionTime != nil && was.CompletionTime != nil {
		c.invalid("completionTime", is.CompletionTime, "field is immutable")
	}
	resumed := HasCondition(c.old, batchv1.JobSuspended) && hasStatus(c.job, batchv1.JobSuspended, corev1.ConditionFalse)
	suspended := c.job.Spec.Suspend != nil && *c.job.Spec.Suspend
	if c.changed.startTime && was.StartTime != nil && !resumed && !suspended {
		c.invalid("startTime", is.StartTime, "field is immutable for unsuspended job once set")
	}
	criteriaMet, hadCriteriaMet := c.has(batchv1.JobSuccessCriteriaMet), HasCondition(c.old, batchv1.JobSuccessCriteriaMet)
	if hadCriteriaMet && !criteriaMet {
		c.badConditions("cannot disable the SuccessCriteriaMet=True condition")
	}
	if criteriaMet && !hadCriteriaMet && HasCondition(c.old, batchv1.JobComplete) {
		c.badConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}
