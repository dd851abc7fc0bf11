package job

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// epoch is the time of the tests; at(30) is half a minute later.
var epoch = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// jobWrapper builds Jobs as the API server has them, with defaults.
type jobWrapper struct{ *batchv1.Job }

func makeJob() jobWrapper {
	labels := map[string]string{batchv1.ControllerUidLabel: "job-uid"}
	return jobWrapper{&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "job-uid", ResourceVersion: "10", Generation: 1},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(1)), Completions: new(int32(1)), BackoffLimit: new(int32(6)),
			CompletionMode: new(batchv1.NonIndexedCompletion), Suspend: new(false),
			PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Selector:             &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
				},
			},
		},
	}}
}

// size sets parallelism and completions.
func (w jobWrapper) size(parallelism, completions int32) jobWrapper {
	w.Spec.Parallelism, w.Spec.Completions = &parallelism, &completions
	return w
}

func (w jobWrapper) workQueue(parallelism int32) jobWrapper {
	w.Spec.Parallelism, w.Spec.Completions = &parallelism, nil
	return w
}

func (w jobWrapper) indexed() jobWrapper {
	w.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	return w
}

// perIndex sets backoffLimitPerIndex, and backoffLimit as the API server then defaults it.
func (w jobWrapper) perIndex(limit int32) jobWrapper {
	w.Spec.BackoffLimitPerIndex, w.Spec.BackoffLimit = &limit, new(int32(1<<31-1))
	return w.indexed()
}

func (w jobWrapper) backoffLimit(limit int32) jobWrapper {
	w.Spec.BackoffLimit = &limit
	return w
}

func (w jobWrapper) suspend() jobWrapper {
	w.Spec.Suspend = new(true)
	return w
}

// deadline sets a deadline of 30 seconds.
func (w jobWrapper) deadline() jobWrapper {
	w.Spec.ActiveDeadlineSeconds = new(int64(30))
	return w
}

func (w jobWrapper) deleting() jobWrapper {
	w.DeletionTimestamp = &metav1.Time{Time: epoch}
	return w
}

func (w jobWrapper) replaceFailedOnly() jobWrapper {
	w.Spec.PodReplacementPolicy = new(batchv1.Failed)
	return w
}

// onExit adds a rule of the pod failure policy for one exit code.
func (w jobWrapper) onExit(code int32, action batchv1.PodFailurePolicyAction) jobWrapper {
	if w.Spec.PodFailurePolicy == nil {
		w.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		w.Spec.PodReplacementPolicy = new(batchv1.Failed)
	}
	w.Spec.PodFailurePolicy.Rules = append(w.Spec.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
		Action: action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		},
	})
	return w
}

// status changes the status.
func (w jobWrapper) status(change func(*batchv1.JobStatus)) jobWrapper {
	change(&w.Status)
	return w
}

// started sets the status of a Job that was synced before.
func (w jobWrapper) started(active int32) jobWrapper {
	return w.status(func(s *batchv1.JobStatus) {
		s.StartTime = &metav1.Time{Time: epoch}
		s.Active, s.Ready, s.Terminating = active, new(int32(0)), new(int32(0))
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	})
}

func (w jobWrapper) condition(conditionType batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) jobWrapper {
	return w.status(func(s *batchv1.JobStatus) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: conditionType, Status: status, Reason: reason, Message: message})
	})
}

// podWrapper builds pods of the Job that makeJob makes.
type podWrapper struct{ *corev1.Pod }

func makePod(name string) podWrapper {
	job := makeJob()
	return podWrapper{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: "20",
			Labels: job.Spec.Template.Labels, CreationTimestamp: metav1.Time{Time: epoch},
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job.Job, jobKind)},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
}

// index gives the pod a completion index and a name that tells it.
func (w podWrapper) index(index int) podWrapper {
	w.Annotations = with(w.Annotations, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
	return w
}

// failures sets what a pod of a Job with a limit per index says about those before it.
func (w podWrapper) failures(counted, ignored int) podWrapper {
	w.Annotations = with(w.Annotations, batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(counted))
	if ignored > 0 {
		w.Annotations = with(w.Annotations, batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.Itoa(ignored))
	}
	return w
}

func (w podWrapper) running() podWrapper {
	w.Status.Phase, w.Spec.NodeName = corev1.PodRunning, "n1"
	return w
}

func (w podWrapper) ready(since time.Time) podWrapper {
	w.Status.Conditions = append(w.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: since},
	})
	return w.running()
}

func (w podWrapper) restarts(n int32) podWrapper {
	w.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: n}}
	return w
}

func (w podWrapper) succeeded(finish time.Time) podWrapper {
	return w.ended(corev1.PodSucceeded, 0, finish)
}

func (w podWrapper) failed(exitCode int32, finish time.Time) podWrapper {
	return w.ended(corev1.PodFailed, exitCode, finish)
}

func (w podWrapper) ended(phase corev1.PodPhase, exitCode int32, finish time.Time) podWrapper {
	w.Status.Phase = phase
	w.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, FinishedAt: metav1.Time{Time: finish},
		}},
	}}
	return w
}

func (w podWrapper) terminating() podWrapper {
	w.DeletionTimestamp = &metav1.Time{Time: epoch}
	return w
}

// released takes the tracking finalizer from the pod.
func (w podWrapper) released() podWrapper {
	w.Finalizers = nil
	return w
}

func (w podWrapper) created(when time.Time) podWrapper {
	w.CreationTimestamp = metav1.Time{Time: when}
	return w
}

// takeSnapshot returns a snapshot at epoch with the limits of the built-in controller.
func takeSnapshot(job jobWrapper, pods ...podWrapper) *snapshot {
	s := &snapshot{
		job: job.Job, now: epoch, settled: true, awaited: sets.New[types.UID](),
		limits: Options{}.withDefaults().limits(), better: deviationsOf(false),
	}
	for _, pod := range pods {
		s.pods = append(s.pods, pod.Pod)
	}
	if s.indexed() {
		sortByIndex(s.pods)
	}
	return s
}

func names(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}
