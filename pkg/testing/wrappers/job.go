package wrappers

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// JobWrapper is a Job in the making.
type JobWrapper struct{ job *batchv1.Job }

// MakeJob starts a Job of one pod, whose one container is not started again in place.
func MakeJob(name, namespace string) *JobWrapper {
	return &JobWrapper{&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container()},
		}}},
	}}
}

// Obj returns the Job itself, not a copy.
func (w *JobWrapper) Obj() *batchv1.Job { return w.job }

// Clone returns a wrapper of a copy.
func (w *JobWrapper) Clone() *JobWrapper { return &JobWrapper{w.job.DeepCopy()} }

// Do hands the Job to a function, for what there is no method for.
func (w *JobWrapper) Do(change func(*batchv1.Job)) *JobWrapper {
	change(w.job)
	return w
}

func (w *JobWrapper) meta() metadata { return metadata{&w.job.ObjectMeta} }
func (w *JobWrapper) pod() podSpec   { return podSpec{&w.job.Spec.Template.Spec} }

// Label adds a label to the Job; its pods have those of PodLabel.
func (w *JobWrapper) Label(key, value string) *JobWrapper { w.meta().label(key, value); return w }

// Annotation adds an annotation to the Job; its pods have those of PodAnnotation.
func (w *JobWrapper) Annotation(key, value string) *JobWrapper {
	w.meta().annotation(key, value)
	return w
}

// Finalizer adds a finalizer: when deleted, the object stays until somebody takes it off.
func (w *JobWrapper) Finalizer(name string) *JobWrapper { w.meta().finalizer(name); return w }

// OwnedBy adds an owner; see [Owner].
func (w *JobWrapper) OwnedBy(owner metav1.OwnerReference) *JobWrapper {
	w.meta().owner(owner)
	return w
}

// UID sets the UID, as for a Job that a server has stored.
func (w *JobWrapper) UID(uid types.UID) *JobWrapper { w.meta().uid(uid); return w }

// Created sets the time of creation, as for a Job that a server has stored.
func (w *JobWrapper) Created(at time.Time) *JobWrapper { w.meta().created(at); return w }

// Deleted sets the time of deletion, as for a Job whose finalizers are waited for.
func (w *JobWrapper) Deleted(at time.Time) *JobWrapper { w.meta().deleted(at); return w }

// Indexed makes the Job one of so many indexes that all run at once: spec.completionMode, completions and parallelism. With
// 2 or more that is a gang (KEP-5547).
func (w *JobWrapper) Indexed(size int32) *JobWrapper {
	w.job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	return w.Parallelism(size).Completions(size)
}

// Parallelism sets spec.parallelism.
func (w *JobWrapper) Parallelism(n int32) *JobWrapper { w.job.Spec.Parallelism = &n; return w }

// Completions sets spec.completions.
func (w *JobWrapper) Completions(n int32) *JobWrapper { w.job.Spec.Completions = &n; return w }

// BackoffLimit sets spec.backoffLimit.
func (w *JobWrapper) BackoffLimit(n int32) *JobWrapper { w.job.Spec.BackoffLimit = &n; return w }

// BackoffLimitPerIndex sets spec.backoffLimitPerIndex, which needs an Indexed Job.
func (w *JobWrapper) BackoffLimitPerIndex(n int32) *JobWrapper {
	w.job.Spec.BackoffLimitPerIndex = &n
	return w
}

// Suspend sets spec.suspend.
func (w *JobWrapper) Suspend(suspend bool) *JobWrapper { w.job.Spec.Suspend = &suspend; return w }

// ManagedBy sets spec.managedBy, the name of an external controller (KEP-4368).
func (w *JobWrapper) ManagedBy(controller string) *JobWrapper {
	w.job.Spec.ManagedBy = &controller
	return w
}

// ActiveDeadline sets spec.activeDeadlineSeconds, in whole seconds.
func (w *JobWrapper) ActiveDeadline(after time.Duration) *JobWrapper {
	w.job.Spec.ActiveDeadlineSeconds = new(int64(after / time.Second))
	return w
}

// TTL sets spec.ttlSecondsAfterFinished, in whole seconds.
func (w *JobWrapper) TTL(after time.Duration) *JobWrapper {
	w.job.Spec.TTLSecondsAfterFinished = new(int32(after / time.Second))
	return w
}

// FailureRule adds a rule to spec.podFailurePolicy.
func (w *JobWrapper) FailureRule(rule batchv1.PodFailurePolicyRule) *JobWrapper {
	if w.job.Spec.PodFailurePolicy == nil {
		w.job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	}
	w.job.Spec.PodFailurePolicy.Rules = append(w.job.Spec.PodFailurePolicy.Rules, rule)
	return w
}

// RestartPolicy sets that of the pods. The default is Never.
func (w *JobWrapper) RestartPolicy(policy corev1.RestartPolicy) *JobWrapper {
	w.job.Spec.Template.Spec.RestartPolicy = policy
	return w
}

// PodLabel adds a label to the pods.
func (w *JobWrapper) PodLabel(key, value string) *JobWrapper {
	metadata{&w.job.Spec.Template.ObjectMeta}.label(key, value)
	return w
}

// PodAnnotation adds an annotation to the pods, such as those that tell the kubelet of this module how long they run.
func (w *JobWrapper) PodAnnotation(key, value string) *JobWrapper {
	metadata{&w.job.Spec.Template.ObjectMeta}.annotation(key, value)
	return w
}

// Request has the first container of each pod request so much of a resource, "500m" of "cpu" for instance. It panics where
// the quantity is none.
func (w *JobWrapper) Request(name corev1.ResourceName, quantity string) *JobWrapper {
	w.pod().request(name, quantity)
	return w
}

// Command sets what the first container of each pod runs.
func (w *JobWrapper) Command(command ...string) *JobWrapper { w.pod().command(command...); return w }

// Image sets the image of the first container.
func (w *JobWrapper) Image(image string) *JobWrapper { w.pod().image(image); return w }

// Group makes the pods members of a PodGroup, which has to be there. The Job controller then makes none of its own.
func (w *JobWrapper) Group(podGroup string) *JobWrapper { w.pod().group(podGroup); return w }

// PriorityClass sets that of the pods.
func (w *JobWrapper) PriorityClass(name string) *JobWrapper {
	w.job.Spec.Template.Spec.PriorityClassName = name
	return w
}

// NodeSelector has the pods run on nodes with a label.
func (w *JobWrapper) NodeSelector(key, value string) *JobWrapper {
	w.pod().nodeSelector(key, value)
	return w
}

// Toleration has the pods tolerate a taint whatever its value; an empty effect means every effect.
func (w *JobWrapper) Toleration(key string, effect corev1.TaintEffect) *JobWrapper {
	w.pod().tolerate(key, effect)
	return w
}

// Active sets status.active.
func (w *JobWrapper) Active(n int32) *JobWrapper { w.job.Status.Active = n; return w }

// Succeeded sets status.succeeded.
func (w *JobWrapper) Succeeded(n int32) *JobWrapper { w.job.Status.Succeeded = n; return w }

// Failed sets status.failed.
func (w *JobWrapper) Failed(n int32) *JobWrapper { w.job.Status.Failed = n; return w }

// Started sets status.startTime.
func (w *JobWrapper) Started(at time.Time) *JobWrapper {
	w.job.Status.StartTime = new(metav1.NewTime(at))
	return w
}

// Condition adds a condition that is true to the status.
func (w *JobWrapper) Condition(kind batchv1.JobConditionType, reason string, at time.Time) *JobWrapper {
	w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason,
		LastProbeTime: metav1.NewTime(at), LastTransitionTime: metav1.NewTime(at),
	})
	return w
}
