package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
	"github.com/musterkube/muster/examples/crd-controller/controller"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/testing/expect"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

// runs is a client of TrainingRuns in a namespace, of the kind that package expect takes.
type runs struct {
	client.WithWatch
}

var _ expect.Client[*trainingv1.TrainingRun] = runs{}

func (r runs) Get(ctx context.Context, name string, _ metav1.GetOptions) (*trainingv1.TrainingRun, error) {
	run := &trainingv1.TrainingRun{}
	err := r.WithWatch.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, run)
	return run, err
}

func (r runs) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return r.WithWatch.Watch(ctx, &trainingv1.TrainingRunList{}, client.InNamespace("default"), &client.ListOptions{Raw: &options})
}

// is the condition that a run has one of the type.
func is(kind string) expect.Condition[*trainingv1.TrainingRun] {
	return expect.That("be "+kind, func(run *trainingv1.TrainingRun) bool {
		return meta.IsStatusConditionTrue(run.Status.Conditions, kind)
	})
}

func newRuns(t *testing.T, c *clustertest.Cluster) runs {
	t.Helper()
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	made, err := client.NewWithWatch(c.Config(), client.Options{Scheme: scheme})
	require.NoError(t, err)
	return runs{made}
}

// create makes the run default/bert of so many workers.
func (r runs) create(t *testing.T, workers int32) {
	t.Helper()
	template := wrappers.MakeJob("", "").Request("cpu", "1").Obj().Spec.Template
	run := &trainingv1.TrainingRun{
		ObjectMeta: metav1.ObjectMeta{Name: "bert", Namespace: "default"},
		Spec: trainingv1.TrainingRunSpec{
			Driver: trainingv1.Driver{Template: template}, Workers: trainingv1.Workers{Replicas: workers, Template: template},
		},
	}
	require.NoError(t, r.Create(t.Context(), run))
}

// startManager runs a manager with leader election beside the cluster, until the returned function kills it or the test ends.
func startManager(t *testing.T, c *clustertest.Cluster, log bool) (kill func()) {
	t.Helper()
	options := controller.Options{LeaseNamespace: "default"}
	if log {
		options.Logger = emulatortest.Logger(t)
	}
	manager, err := controller.NewManager(c.Config(), options)
	require.NoError(t, err)
	dies, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	c.Go(func(ctx context.Context) error {
		context.AfterFunc(ctx, kill)
		err := manager.Start(dies)
		if dies.Err() != nil {
			return nil //nolint:nilerr // it was killed
		}
		return err
	})
	return kill
}

// options are a cluster with the definition and a script.
func options(script kubelet.Script) cluster.Options {
	return cluster.Options{Nodes: 3, CRDPaths: []string{"../config/crd.yaml"}, Script: script}
}

// members is a script that goes by the name of the member and the number of the attempt, and counts the starts.
type members struct {
	outcome func(member, attempt string) kubelet.Outcome
	starts  map[string]int
}

func (m *members) Run(a kubelet.Attempt) kubelet.Outcome {
	name := a.Pod.Labels["training.example.com/member"]
	if m.starts == nil {
		m.starts = map[string]int{}
	}
	m.starts[name]++
	return m.outcome(name, a.Pod.Labels["training.example.com/attempt"])
}

func minutes(n int) kubelet.Outcome { return kubelet.Outcome{Duration: time.Duration(n) * time.Minute} }

// TestLifeOnARealClock takes a run from its creation to its end and deletion, as on a real cluster.
func TestLifeOnARealClock(t *testing.T) {
	proceed := kubelet.Outcome{Duration: 200 * time.Millisecond}
	c := clustertest.Start(t, options(&members{outcome: func(string, string) kubelet.Outcome { return proceed }}))
	startManager(t, c, true)
	runs := newRuns(t, c)
	runs.create(t, 3)
	run := expect.Eventually(t, runs, "bert", is(trainingv1.ConditionScheduled))

	workloads, err := c.Muster.SchedulingV1alpha2().Workloads("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, workloads.Items, 1)
	assert.True(t, metav1.IsControlledBy(&workloads.Items[0], run))
	require.Len(t, workloads.Items[0].Spec.PodGroupTemplates, 2)
	assert.EqualValues(t, 3, workloads.Items[0].Spec.PodGroupTemplates[1].SchedulingPolicy.Gang.MinCount)
	groups, err := c.Muster.SchedulingV1alpha2().PodGroups("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 2)

	run = expect.Eventually(t, runs, "bert", is(trainingv1.ConditionComplete))
	assert.NotNil(t, run.Status.CompletionTime)
	for _, group := range groups.Items {
		expect.Eventually(t, c.Muster.SchedulingV1alpha2().PodGroups("default"), group.Name, expect.Gone[*schedulingv1alpha2.PodGroup]())
	}
	expect.Eventually(t, c.Muster.SchedulingV1alpha2().Workloads("default"), workloads.Items[0].Name, expect.Gone[*schedulingv1alpha2.Workload]())

	pods := c.Pods("training.example.com/run=bert")
	require.Len(t, pods, 4, "pods stay for their logs")
	require.NoError(t, runs.Delete(t.Context(), run))
	for _, pod := range pods {
		assert.NotNil(t, pod.Spec.SchedulingGroup)
		expect.Eventually(t, c.Kube.CoreV1().Pods("default"), pod.Name, expect.Gone[*corev1.Pod]())
	}
}

// TestFailingWorker has one of three workers fail twice, at known times.
func TestFailingWorker(t *testing.T) {
	script := &members{outcome: func(member, attempt string) kubelet.Outcome {
		outcome := minutes(1)
		if member == "worker-1" && attempt < "2" {
			outcome.ExitCode = 1
		}
		return outcome
	}}
	clustertest.Run(t, options(script), func(t *testing.T, c *clustertest.Cluster) {
		startManager(t, c, false)
		runs := newRuns(t, c)
		c.Advance(time.Minute) // a leader is elected
		began := c.Now()
		runs.create(t, 3)
		run := clustertest.UntilIs(c, time.Hour, runs, "bert", is(trainingv1.ConditionComplete))
		assert.Equal(t, 3*time.Minute, c.Now().Sub(began), "each attempt takes a minute, and there is no wait between them")
		assert.Equal(t, []trainingv1.MemberStatus{
			{Name: "driver", Succeeded: true}, {Name: "worker-0", Succeeded: true},
			{Name: "worker-1", Failures: 2, Succeeded: true}, {Name: "worker-2", Succeeded: true},
		}, run.Status.Members)
		assert.Equal(t, map[string]int{"driver": 1, "worker-0": 1, "worker-1": 3, "worker-2": 1}, script.starts)
	})
}

// TestFailedRun has a worker that always fails: the run ends as Failed, and nothing of it goes on.
func TestFailedRun(t *testing.T) {
	script := &members{outcome: func(member, _ string) kubelet.Outcome {
		if member == "worker-0" {
			return kubelet.Outcome{Duration: time.Second, ExitCode: 1}
		}
		return minutes(100)
	}}
	clustertest.Run(t, options(script), func(t *testing.T, c *clustertest.Cluster) {
		startManager(t, c, false)
		runs := newRuns(t, c)
		runs.create(t, 2)
		run := clustertest.UntilIs(c, time.Hour, runs, "bert", is(trainingv1.ConditionFailed))
		assert.Contains(t, meta.FindStatusCondition(run.Status.Conditions, trainingv1.ConditionFailed).Message, "failed 4 times")
		assert.Equal(t, 4, script.starts["worker-0"])
		c.Advance(time.Minute)
		for _, pod := range c.Pods("training.example.com/run=bert") {
			assert.Equal(t, corev1.PodFailed, pod.Status.Phase, "%s: nothing of a failed run goes on", pod.Name)
			assert.Empty(t, pod.Finalizers, pod.Name)
		}
		groups, err := c.Muster.SchedulingV1alpha2().PodGroups("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, groups.Items)
	})
}

// TestAnotherManagerTakesOver kills the leader. While nobody leads, work finishes and its pods are deleted: the next leader
// knows all the same, and runs nothing again.
func TestAnotherManagerTakesOver(t *testing.T) {
	script := &members{outcome: func(member, _ string) kubelet.Outcome {
		if member == "worker-1" {
			return minutes(5)
		}
		return minutes(1)
	}}
	clustertest.Run(t, options(script), func(t *testing.T, c *clustertest.Cluster) {
		kill := startManager(t, c, false)
		runs := newRuns(t, c)
		runs.create(t, 2)
		clustertest.UntilIs(c, time.Hour, runs, "bert", is(trainingv1.ConditionScheduled))
		kill()
		c.Advance(2 * time.Minute) // the driver and a worker finish
		background := metav1.DeletePropagationBackground
		require.NoError(t, c.Kube.CoreV1().Pods("default").DeleteCollection(t.Context(),
			metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{FieldSelector: "status.phase=Succeeded"}))
		c.Settle()
		run, err := runs.Get(t.Context(), "bert", metav1.GetOptions{})
		require.NoError(t, err)
		require.Empty(t, run.Status.Members, "nobody has written anything down")

		startManager(t, c, false)
		run = clustertest.UntilIs(c, time.Hour, runs, "bert", is(trainingv1.ConditionComplete))
		assert.Equal(t, map[string]int{"driver": 1, "worker-0": 1, "worker-1": 1}, script.starts, "nothing has run twice")
		lease, err := c.Kube.CoordinationV1().Leases("default").Get(t.Context(), "training-controller", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 1, *lease.Spec.LeaseTransitions)
		assert.Len(t, c.Pods("training.example.com/run=bert"), 1, "the pods that were deleted are gone, and stay so")
		assert.Len(t, run.Status.Members, 3)
	})
}
