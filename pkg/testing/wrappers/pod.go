package wrappers

import (
	"maps"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodWrapper is a Pod in the making.
type PodWrapper struct{ pod *corev1.Pod }

// MakePod starts a Pod of one container.
func MakePod(name, namespace string) *PodWrapper {
	return &PodWrapper{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container()}},
	}}
}

// MakeJobPod starts the pod that the controller of a Job makes for an index, from its template: with the labels, the
// annotation, the owner and the finalizer that such pods have. The name is the Job's, the index and a suffix. An index below
// 0 is for a Job that is not Indexed.
func MakeJobPod(job *batchv1.Job, index int, suffix string) *PodWrapper {
	name := job.Name + "-"
	if index >= 0 {
		name += strconv.Itoa(index) + "-"
	}
	w := MakePod(name+suffix, job.Namespace)
	w.pod.Labels, w.pod.Annotations = maps.Clone(job.Spec.Template.Labels), maps.Clone(job.Spec.Template.Annotations)
	job.Spec.Template.Spec.DeepCopyInto(&w.pod.Spec)
	w.Label(batchv1.JobNameLabel, job.Name).Label(batchv1.ControllerUidLabel, string(job.UID))
	if index >= 0 {
		w.Index(index)
	}
	return w.OwnedBy(Owner(job, batchv1.SchemeGroupVersion.WithKind("Job"))).Finalizer(batchv1.JobTrackingFinalizer)
}

// Obj returns the Pod itself, not a copy.
func (w *PodWrapper) Obj() *corev1.Pod { return w.pod }

// Clone returns a wrapper of a copy.
func (w *PodWrapper) Clone() *PodWrapper { return &PodWrapper{w.pod.DeepCopy()} }

// Do hands the Pod to a function, for what there is no method for.
func (w *PodWrapper) Do(change func(*corev1.Pod)) *PodWrapper {
	change(w.pod)
	return w
}

func (w *PodWrapper) meta() metadata { return metadata{&w.pod.ObjectMeta} }
func (w *PodWrapper) spec() podSpec  { return podSpec{&w.pod.Spec} }

// Label adds a label, in place of one of the same key.
func (w *PodWrapper) Label(key, value string) *PodWrapper { w.meta().label(key, value); return w }

// Annotation adds an annotation, in place of one of the same key.
func (w *PodWrapper) Annotation(key, value string) *PodWrapper {
	w.meta().annotation(key, value)
	return w
}

// Finalizer adds a finalizer: when deleted, the object stays until somebody takes it off.
func (w *PodWrapper) Finalizer(name string) *PodWrapper { w.meta().finalizer(name); return w }

// OwnedBy adds an owner; see [Owner].
func (w *PodWrapper) OwnedBy(owner metav1.OwnerReference) *PodWrapper {
	w.meta().owner(owner)
	return w
}

// UID sets the UID, as for a Pod that a server has stored.
func (w *PodWrapper) UID(uid types.UID) *PodWrapper { w.meta().uid(uid); return w }

// Created sets the time of creation, as for a Pod that a server has stored.
func (w *PodWrapper) Created(at time.Time) *PodWrapper { w.meta().created(at); return w }

// Deleted sets the time of deletion, as for a Pod that is being terminated.
func (w *PodWrapper) Deleted(at time.Time) *PodWrapper { w.meta().deleted(at); return w }

// Index gives the Pod the label and the annotation of a completion index.
func (w *PodWrapper) Index(index int) *PodWrapper {
	text := strconv.Itoa(index)
	return w.Label(batchv1.JobCompletionIndexAnnotation, text).Annotation(batchv1.JobCompletionIndexAnnotation, text)
}

// Group makes the Pod a member of a PodGroup of its namespace: spec.schedulingGroup.
func (w *PodWrapper) Group(podGroup string) *PodWrapper { w.spec().group(podGroup); return w }

// Request has the first container request so much of a resource, "500m" of "cpu" for instance. It panics where the quantity
// is none.
func (w *PodWrapper) Request(name corev1.ResourceName, quantity string) *PodWrapper {
	w.spec().request(name, quantity)
	return w
}

// Command sets what the first container runs.
func (w *PodWrapper) Command(command ...string) *PodWrapper { w.spec().command(command...); return w }

// Image sets the image of the first container.
func (w *PodWrapper) Image(image string) *PodWrapper { w.spec().image(image); return w }

// RestartPolicy sets spec.restartPolicy. The default is the server's, which is Always.
func (w *PodWrapper) RestartPolicy(policy corev1.RestartPolicy) *PodWrapper {
	w.pod.Spec.RestartPolicy = policy
	return w
}

// NodeSelector has the Pod run on nodes with a label.
func (w *PodWrapper) NodeSelector(key, value string) *PodWrapper {
	w.spec().nodeSelector(key, value)
	return w
}

// Toleration has the Pod tolerate a taint whatever its value; an empty effect means every effect.
func (w *PodWrapper) Toleration(key string, effect corev1.TaintEffect) *PodWrapper {
	w.spec().tolerate(key, effect)
	return w
}

// SchedulingGate adds a gate, which keeps the Pod from being scheduled.
func (w *PodWrapper) SchedulingGate(name string) *PodWrapper {
	w.pod.Spec.SchedulingGates = append(w.pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	return w
}

// PriorityClass sets spec.priorityClassName.
func (w *PodWrapper) PriorityClass(name string) *PodWrapper {
	w.pod.Spec.PriorityClassName = name
	return w
}

// Priority sets spec.priority, which on a server comes from the priority class.
func (w *PodWrapper) Priority(priority int32) *PodWrapper {
	w.pod.Spec.Priority = &priority
	return w
}

// Node binds the Pod to a node: spec.nodeName.
func (w *PodWrapper) Node(name string) *PodWrapper { w.pod.Spec.NodeName = name; return w }

// Phase sets status.phase, and nothing that comes with it, such as conditions.
func (w *PodWrapper) Phase(phase corev1.PodPhase) *PodWrapper { w.pod.Status.Phase = phase; return w }

// Condition adds a condition to the status.
func (w *PodWrapper) Condition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) *PodWrapper {
	w.pod.Status.Conditions = append(w.pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason})
	return w
}

// Exited makes every container one that has ended with an exit code, and the Pod Succeeded or Failed accordingly.
func (w *PodWrapper) Exited(code int32, at time.Time) *PodWrapper {
	w.Phase(corev1.PodSucceeded)
	reason := "Completed"
	if code != 0 {
		w.Phase(corev1.PodFailed)
		reason = "Error"
	}
	w.pod.Status.ContainerStatuses = nil
	for _, container := range w.pod.Spec.Containers {
		w.pod.Status.ContainerStatuses = append(w.pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(at),
			}},
		})
	}
	return w
}
