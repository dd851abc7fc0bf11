package job_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

// groupOf returns the name of the group of a pod.
func groupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

// theGang returns the one Workload and the one PodGroup that there are.
func (w *world) theGang() (*schedulingv1alpha2.Workload, *schedulingv1alpha2.PodGroup) {
	w.Helper()
	workloads, groups := w.gang()
	require.Len(w, workloads, 1)
	require.Len(w, groups, 1)
	return &workloads[0], &groups[0]
}

func TestGangGetsItsGroupBeforeItsPods(t *testing.T) {
	w := newWorld(t)
	stop := w.run(quick())
	j := w.create(newJob("train", indexed(3, 3)))
	pods := w.awaitActive(3)
	workload, group := w.theGang()

	assert.Equal(t, builder.WorkloadName("train", j.UID, builder.Options{}), workload.Name)
	assert.True(t, metav1.IsControlledBy(workload, j))
	require.Len(t, workload.Spec.PodGroupTemplates, 1)
	assert.Equal(t, int32(3), workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, int32(3), group.Spec.SchedulingPolicy.Gang.MinCount)
	require.Len(t, group.OwnerReferences, 2)
	assert.Equal(t, []types.UID{j.UID, workload.UID}, []types.UID{group.OwnerReferences[0].UID, group.OwnerReferences[1].UID})
	assertOlder(t, workload, group)
	for _, pod := range pods {
		assert.Equal(t, group.Name, groupOf(pod))
		assert.Len(t, pod.OwnerReferences, 1, "the Job alone owns a pod")
		created, err := w.client.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		require.NoError(t, err)
		assertOlder(t, group, created)
	}
	stop()
	assert.Contains(t, w.events("train"), "Normal WorkloadCreated Created Workload "+workload.Name+" for Job train")
}

// assertOlder asserts that a was written before b.
func assertOlder(t *testing.T, a, b metav1.Object) {
	t.Helper()
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	require.NoError(t, err)
	assert.Negative(t, order, "%s was written after %s", a.GetName(), b.GetName())
}

func TestGangOfWhichOneFailedIsTriedAgainInTheSameGroup(t *testing.T) {
	w := newWorld(t)
	stop := w.run(quick())
	w.create(newJob("train", indexed(2, 2)))
	pods := w.awaitActive(2)
	w.succeed(pods[0])
	w.awaitCounts("train", 1, 1, 0)
	// The controller that goes on may be another one.
	stop()
	w.run(quick())
	w.fail(pods[1])
	w.awaitCounts("train", 1, 1, 1)
	again := w.awaitActive(1)[0]
	_, group := w.theGang()
	assert.Equal(t, group.Name, groupOf(again))
	assert.Equal(t, groupOf(pods[0]), groupOf(again))
	w.succeed(again)
	j := w.awaitCondition("train", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, "0,1", j.Status.CompletedIndexes)
	w.theGang()
}

func TestGangThatIsSuspendedGetsItsGroupAtResumeAndKeepsIt(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("train", both(indexed(2, 2), func(spec *batchv1.JobSpec) { spec.Suspend = new(true) })))
	w.awaitCondition("train", batchv1.JobSuspended)
	workloads, _ := w.gang()
	assert.Empty(t, workloads)
	w.patch("train", `{"spec":{"suspend":false}}`)
	w.awaitCounts("train", 2, 0, 0)
	workload, group := w.theGang()
	for range 2 {
		w.patch("train", `{"spec":{"suspend":true}}`)
		w.awaitCondition("train", batchv1.JobSuspended)
		w.patch("train", `{"spec":{"suspend":false}}`)
		w.awaitCounts("train", 2, 0, 0)
		for _, pod := range w.awaitActive(2) {
			assert.Equal(t, group.Name, groupOf(pod))
		}
	}
	sameWorkload, sameGroup := w.theGang()
	assert.Equal(t, workload.UID, sameWorkload.UID)
	assert.Equal(t, group.UID, sameGroup.UID)
}

func TestJobsThatAreNoGangGetNoGroup(t *testing.T) {
	tests := map[string]struct {
		change  func(*batchv1.JobSpec)
		options func(*job.Options)
	}{
		"without indexes":                   {change: size(3, 3)},
		"of one pod":                        {change: indexed(1, 1)},
		"whose pods do not all run at once": {change: indexed(2, 3)},
		"where the gate is off":             {change: indexed(2, 2), options: func(o *job.Options) { o.Gates = o.Gates.With(features.WorkloadWithJob, false) }},
		"whose pods belong to another group": {change: both(indexed(2, 2), func(s *batchv1.JobSpec) {
			s.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("mine")}
		})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			options := quick()
			if tc.options != nil {
				tc.options(&options)
			}
			w.run(options)
			j := w.create(newJob("j", tc.change))
			w.awaitCounts("j", *j.Spec.Parallelism, 0, 0)
			workloads, groups := w.gang()
			assert.Empty(t, workloads)
			assert.Empty(t, groups)
			if own := j.Spec.Template.Spec.SchedulingGroup; own != nil {
				assert.Equal(t, *own.PodGroupName, groupOf(w.awaitActive(2)[0]))
			}
		})
	}
}

func TestWorkloadThatCannotBeMadeIsTold(t *testing.T) {
	w := newWorld(t)
	j := w.create(newJob("train", indexed(2, 2)))
	// The name is taken, by something that has nothing to do with the Job.
	taken, err := builder.FromJob(j, builder.Options{})
	require.NoError(t, err)
	taken.OwnerReferences, taken.Spec.ControllerRef = nil, nil
	workloads := w.scheduling.SchedulingV1alpha2().Workloads(namespace)
	_, err = workloads.Create(t.Context(), taken, metav1.CreateOptions{})
	require.NoError(t, err)
	w.run(quick())

	w.awaitEvent("train", "Warning NameTaken Workload "+taken.Name+" is in the way of the Job's own: nothing controls it.")
	assert.Empty(t, w.allPods(), "no pod starts without its group")
	require.NoError(t, workloads.Delete(t.Context(), taken.Name, metav1.DeleteOptions{}))
	pods := w.awaitActive(2)
	_, group := w.theGang()
	assert.Equal(t, group.Name, groupOf(pods[0]))
}

func TestRunSaysThatWorkloadsAreNotServed(t *testing.T) {
	w := newWorldWith(t, emulator.Options{Gates: features.KubernetesDefaults()})
	controller, err := job.New(w.config, job.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, controller.Run(t.Context()), job.ErrNotServed)

	w.run(job.Options{Gates: features.KubernetesDefaults(), SyncDelay: -1})
	w.create(newJob("train", indexed(2, 2)))
	w.awaitCounts("train", 2, 0, 0)
}
