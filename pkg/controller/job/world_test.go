package job_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator"
)

// world is an API server with a test that plays the user and the kubelets. It has no scheduler and no garbage collector
// of its own.
type world struct {
	*testing.T
	server     *emulator.Server
	config     *rest.Config
	client     kubernetes.Interface
	scheduling versioned.Interface
	jobs       cache.Indexer

	mu      sync.Mutex
	changed chan struct{}
}

const namespace = "default"

const mergePatch = types.MergePatchType

// patience bounds each wait. No test comes near it unless it fails.
const patience = 30 * time.Second

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, emulator.Options{})
}

func newWorldWith(t *testing.T, options emulator.Options) *world {
	t.Helper()
	server, err := emulator.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	w := &world{T: t, server: server, config: server.Config(), changed: make(chan struct{})}
	config := rest.CopyConfig(w.config)
	config.QPS = -1
	w.client, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	w.scheduling, err = versioned.NewForConfig(config)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(w.client, 0)
	jobs, pods := factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer()
	w.jobs = jobs.GetIndexer()
	for _, informer := range []cache.SharedIndexInformer{jobs, pods} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { w.wake() },
			UpdateFunc: func(any, any) { w.wake() },
			DeleteFunc: func(any) { w.wake() },
		})
		require.NoError(t, err)
	}
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	require.True(t, cache.WaitFor(ctx, "", jobs.HasSyncedChecker(), pods.HasSyncedChecker()))
	return w
}

func (w *world) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// await waits, by watching, until what is so.
func (w *world) await(what string, is func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.FailNow(w, "waited in vain for "+what, w.describe())
		}
	}
}

// describe tells what there is.
func (w *world) describe() string {
	var text strings.Builder
	for _, object := range w.jobs.List() {
		j := object.(*batchv1.Job)
		fmt.Fprintf(&text, "job %s: %+v\n", j.Name, j.Status)
	}
	for _, pod := range w.allPods() {
		fmt.Fprintf(&text, "pod %s: %s deleting=%v finalizers=%v\n", pod.Name, pod.Status.Phase, pod.DeletionTimestamp != nil, pod.Finalizers)
	}
	return text.String()
}

// run runs a controller until the test ends or the function that it returns is called, which waits for its end.
func (w *world) run(options job.Options) (stop func()) {
	w.Helper()
	return w.runWith(w.config, options)
}

func (w *world) runWith(config *rest.Config, options job.Options) (stop func()) {
	w.Helper()
	controller, err := job.New(config, options)
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(klog.NewContext(w.Context(), logr.Discard()))
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(w, <-ended)
	})
	w.Cleanup(stop)
	return stop
}

// quick are the options of most tests: no delays that only time would end.
func quick() job.Options {
	return job.Options{
		SyncDelay: -1, PodBackoff: time.Millisecond, MaxPodBackoff: time.Millisecond,
		RetryBackoff: time.Millisecond, MaxRetryBackoff: 50 * time.Millisecond,
	}
}

// newJob is a Job of one pod; change makes it another.
func newJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
		}}},
	}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

// size returns a change that sets parallelism and completions.
func size(parallelism, completions int32) func(*batchv1.JobSpec) {
	return func(spec *batchv1.JobSpec) { spec.Parallelism, spec.Completions = &parallelism, &completions }
}

// indexed returns a change that makes the Job Indexed too.
func indexed(parallelism, completions int32) func(*batchv1.JobSpec) {
	return both(size(parallelism, completions), func(spec *batchv1.JobSpec) {
		spec.CompletionMode = new(batchv1.IndexedCompletion)
	})
}

func both(changes ...func(*batchv1.JobSpec)) func(*batchv1.JobSpec) {
	return func(spec *batchv1.JobSpec) {
		for _, change := range changes {
			change(spec)
		}
	}
}

func (w *world) create(j *batchv1.Job) *batchv1.Job {
	w.Helper()
	created, err := w.client.BatchV1().Jobs(j.Namespace).Create(w.Context(), j, metav1.CreateOptions{})
	require.NoError(w, err)
	return created
}

// patch merges a patch into a Job.
func (w *world) patch(name, patch string) {
	w.Helper()
	_, err := w.client.BatchV1().Jobs(namespace).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(w, err)
}

func (w *world) job(name string) *batchv1.Job {
	object, exists, err := w.jobs.GetByKey(namespace + "/" + name)
	require.NoError(w, err)
	if !exists {
		return &batchv1.Job{}
	}
	return object.(*batchv1.Job)
}

// awaitJob waits for a Job to be so and returns it.
func (w *world) awaitJob(name, what string, is func(*batchv1.Job) bool) *batchv1.Job {
	w.Helper()
	w.await("job "+name+" "+what, func() bool { return is(w.job(name)) })
	return w.job(name)
}

// awaitCondition waits for a condition to be True.
func (w *world) awaitCondition(name string, condition batchv1.JobConditionType) *batchv1.Job {
	w.Helper()
	return w.awaitJob(name, string(condition), func(j *batchv1.Job) bool { return batch.HasCondition(j, condition) })
}

// awaitCounts waits for the counts of the status to be these and nothing uncounted to be left.
func (w *world) awaitCounts(name string, active, succeeded, failed int32) *batchv1.Job {
	w.Helper()
	return w.awaitJob(name, fmt.Sprintf("with active %d, succeeded %d, failed %d", active, succeeded, failed), func(j *batchv1.Job) bool {
		s := &j.Status
		list := s.UncountedTerminatedPods
		return s.StartTime != nil && s.Active == active && s.Succeeded == succeeded && s.Failed == failed &&
			list != nil && len(list.Succeeded)+len(list.Failed) == 0
	})
}

// allPods returns the pods in the order of their indexes. It asks the server: what was seen of a Job may be newer than
// what was seen of its pods.
func (w *world) allPods() []*corev1.Pod {
	w.Helper()
	list, err := w.client.CoreV1().Pods(namespace).List(context.WithoutCancel(w.Context()), metav1.ListOptions{})
	require.NoError(w, err)
	pods := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		indexA, _ := batch.CompletionIndex(a)
		indexB, _ := batch.CompletionIndex(b)
		if indexA != indexB {
			return indexA - indexB
		}
		return strings.Compare(a.Name, b.Name)
	})
	return pods
}

// active returns the pods that neither have ended nor are being deleted, in the order of their indexes.
func (w *world) active() []*corev1.Pod {
	return slices.DeleteFunc(w.allPods(), func(pod *corev1.Pod) bool { return !core.PodActive(pod) })
}

// awaitActive waits for that many active pods and returns them.
func (w *world) awaitActive(n int) []*corev1.Pod {
	w.Helper()
	w.await(strconv.Itoa(n)+" active pods", func() bool { return len(w.active()) == n })
	return w.active()
}

// awaitReleased waits until no pod has the tracking finalizer.
func (w *world) awaitReleased() {
	w.Helper()
	w.await("pods without finalizer", func() bool {
		return !slices.ContainsFunc(w.allPods(), func(pod *corev1.Pod) bool {
			return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
		})
	})
}

// set reports a phase of a pod as a kubelet would; a container of a pod that has ended has the exit code.
func (w *world) set(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32, conditions ...corev1.PodCondition) {
	w.Helper()
	require.NoError(w, w.trySet(pod, phase, exitCode, conditions...))
}

func (w *world) trySet(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32, conditions ...corev1.PodCondition) error {
	w.Helper()
	now := metav1.Time{Time: time.Now()} //nolint:forbidigo // a kubelet's clock
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	container := corev1.ContainerStatus{Name: "c", Image: "busybox"}
	if phase == corev1.PodRunning {
		ready.Status, container.Ready = corev1.ConditionTrue, true
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	} else {
		container.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: exitCode, FinishedAt: now}
	}
	status := corev1.PodStatus{
		Phase: phase, Conditions: append([]corev1.PodCondition{ready}, conditions...), ContainerStatuses: []corev1.ContainerStatus{container},
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	require.NoError(w, err)
	_, err = w.client.CoreV1().Pods(pod.Namespace).Patch(w.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func (w *world) start(pods ...*corev1.Pod) {
	w.Helper()
	for _, pod := range pods {
		w.set(pod, corev1.PodRunning, 0)
	}
}

func (w *world) succeed(pods ...*corev1.Pod) {
	w.Helper()
	for _, pod := range pods {
		w.set(pod, corev1.PodSucceeded, 0)
	}
}

func (w *world) fail(pods ...*corev1.Pod) {
	w.Helper()
	for _, pod := range pods {
		w.set(pod, corev1.PodFailed, 1)
	}
}

// bind puts pods on a node, so that their deletion waits for a kubelet.
func (w *world) bind(pods ...*corev1.Pod) []*corev1.Pod {
	w.Helper()
	bound := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		require.NoError(w, w.client.CoreV1().Pods(pod.Namespace).Bind(w.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "n1"},
		}, metav1.CreateOptions{}))
		bound[i] = w.pod(pod.Name)
	}
	return bound
}

// pod returns a pod as it is now, an empty one if it is gone.
func (w *world) pod(name string) *corev1.Pod {
	w.Helper()
	pod, err := w.client.CoreV1().Pods(namespace).Get(w.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &corev1.Pod{}
	}
	require.NoError(w, err)
	return pod
}

// remove deletes pods; grace zero is what a kubelet does at the end.
func (w *world) remove(options metav1.DeleteOptions, pods ...*corev1.Pod) {
	w.Helper()
	for _, pod := range pods {
		require.NoError(w, w.client.CoreV1().Pods(pod.Namespace).Delete(w.Context(), pod.Name, options))
	}
}

// events returns the events of a Job as "Type Reason Message", each once, sorted.
func (w *world) events(name string) []string {
	w.Helper()
	list, err := w.client.CoreV1().Events(namespace).List(w.Context(), metav1.ListOptions{})
	require.NoError(w, err)
	var events []string
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == "Job" && e.InvolvedObject.Name == name {
			events = append(events, e.Type+" "+e.Reason+" "+e.Message)
		}
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// awaitEvent waits for an event of a Job that begins so.
func (w *world) awaitEvent(name, prefix string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	watcher, err := w.client.CoreV1().Events(namespace).Watch(ctx, metav1.ListOptions{})
	require.NoError(w, err)
	defer watcher.Stop()
	is := func(text string) bool { return strings.HasPrefix(text, prefix) }
	if slices.ContainsFunc(w.events(name), is) {
		return
	}
	for change := range watcher.ResultChan() {
		e, ok := change.Object.(*corev1.Event)
		if ok && e.InvolvedObject.Name == name && is(e.Type+" "+e.Reason+" "+e.Message) {
			return
		}
	}
	require.FailNow(w, "waited in vain for the event "+prefix, strings.Join(w.events(name), "\n"))
}

// gang returns the Workloads and PodGroups.
func (w *world) gang() ([]schedulingv1alpha2.Workload, []schedulingv1alpha2.PodGroup) {
	w.Helper()
	workloads, err := w.scheduling.SchedulingV1alpha2().Workloads(namespace).List(w.Context(), metav1.ListOptions{})
	require.NoError(w, err)
	groups, err := w.scheduling.SchedulingV1alpha2().PodGroups(namespace).List(w.Context(), metav1.ListOptions{})
	require.NoError(w, err)
	return workloads.Items, groups.Items
}

// collectGarbage does what a garbage collector does after a Job was deleted with a policy, whether one runs or not.
func (w *world) collectGarbage(policy metav1.DeletionPropagation) {
	w.Helper()
	for _, pod := range w.allPods() {
		var err error
		if policy == metav1.DeletePropagationOrphan {
			_, err = w.client.CoreV1().Pods(namespace).Patch(w.Context(), pod.Name, mergePatch, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
		} else {
			err = w.client.CoreV1().Pods(namespace).Delete(w.Context(), pod.Name, metav1.DeleteOptions{})
		}
		if !apierrors.IsNotFound(err) {
			require.NoError(w, err)
		}
	}
	if policy == metav1.DeletePropagationBackground {
		return
	}
	_, err := w.client.BatchV1().Jobs(namespace).Patch(w.Context(), "j", mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(w, err)
	}
}
