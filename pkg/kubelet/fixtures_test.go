package kubelet

import (
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// epoch is when everything in the fixtures was made.
func epoch() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

type podWrapper struct{ corev1.Pod }

// makePod returns a pod in namespace "ns" with one container "main", bound to node "n1", that is never restarted.
func makePod(name string) *podWrapper {
	return &podWrapper{corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(epoch()),
		},
		Spec: corev1.PodSpec{
			NodeName:                      "n1",
			RestartPolicy:                 corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: new(int64(30)),
			Containers:                    []corev1.Container{{Name: "main", Image: "busybox"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
}

func (w *podWrapper) Restart(policy corev1.RestartPolicy) *podWrapper {
	w.Spec.RestartPolicy = policy
	return w
}

func (w *podWrapper) Container(name string) *podWrapper {
	w.Spec.Containers = append(w.Spec.Containers, corev1.Container{Name: name, Image: "busybox"})
	return w
}

func (w *podWrapper) Init(name string) *podWrapper {
	w.Spec.InitContainers = append(w.Spec.InitContainers, corev1.Container{Name: name, Image: "busybox"})
	return w
}

func (w *podWrapper) Sidecar(name string) *podWrapper {
	w.Init(name)
	w.Spec.InitContainers[len(w.Spec.InitContainers)-1].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return w
}

func (w *podWrapper) Deadline(seconds int64) *podWrapper {
	w.Spec.ActiveDeadlineSeconds = &seconds
	return w
}

func (w *podWrapper) Annotate(key, value string) *podWrapper {
	if w.Annotations == nil {
		w.Annotations = map[string]string{}
	}
	w.Annotations[key] = value
	return w
}

// Job makes the pod one of the Job of that name, with an index if it is not negative.
func (w *podWrapper) Job(name string, index int) *podWrapper {
	w.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: name, UID: types.UID("job-" + name), Controller: new(true),
	}}
	if index >= 0 {
		w.Annotate(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
	}
	return w
}

func (w *podWrapper) Obj() *corev1.Pod { return &w.Pod }

// player plays one pod without an API server: what the kubelet writes is what the pod is.
type player struct {
	run *run
	now time.Time
}

// play takes a pod on at the epoch.
func play(pod *corev1.Pod, delay time.Duration, script Script) *player {
	h := newHistory()
	h.see(pod)
	launch := func(r *run, c *container) (start, error) {
		a := h.attempt(r.pod, c.spec.Name, c.kind != mainContainer, c.restarts)
		outcome, err := annotate(a, script.Run(a))
		return start{outcome: outcome}, err
	}
	p := &player{now: epoch()}
	p.run = newRun(pod, p.now, delay, true, launch)
	p.run.podIP, p.run.hostIP = "10.0.0.1", "10.128.0.1"
	return p
}

// step advances the pod, writes its status, and returns the time of the next step.
func (p *player) step() time.Time {
	next := p.run.advance(p.now)
	pod := p.run.pod.DeepCopy()
	pod.Status = *p.run.status(p.now)
	p.run.pod = pod
	return next
}

// until steps from one due time to the next until the time given, and returns what was seen on the way, one line for
// each status that differs from the one before.
func (p *player) until(after time.Duration) []string {
	var lines []string
	end := epoch().Add(after)
	for range 1000 {
		next := p.step()
		line := fmt.Sprintf("%s %s", p.now.Sub(epoch()), describe(p.run.pod))
		if len(lines) == 0 || lines[len(lines)-1] != line {
			lines = append(lines, line)
		}
		if next.IsZero() || next.After(end) {
			p.now = end
			return lines
		}
		if next.After(p.now) {
			p.now = next
		}
	}
	return append(lines, "does not come to rest")
}

// remove is what the API server does with a pod that is to be deleted gracefully.
func (p *player) remove(grace time.Duration) {
	pod := p.run.pod.DeepCopy()
	pod.DeletionTimestamp = new(metav1.NewTime(p.now.Add(grace)))
	pod.DeletionGracePeriodSeconds = new(int64(grace / time.Second))
	p.run.pod = pod
}

// describe renders the part of a status that tests look at most.
func describe(pod *corev1.Pod) string {
	text := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		text += "(" + pod.Status.Reason + ")"
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			text += " " + s.Name + ":"
			switch {
			case s.State.Running != nil:
				text += "running"
			case s.State.Terminated != nil:
				text += fmt.Sprintf("%s/%d", s.State.Terminated.Reason, s.State.Terminated.ExitCode)
			case s.State.Waiting != nil:
				text += s.State.Waiting.Reason
			}
			if s.RestartCount > 0 {
				text += fmt.Sprintf("+%d", s.RestartCount)
			}
			if s.Ready {
				text += "!"
			}
		}
	}
	return text
}
