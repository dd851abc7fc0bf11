package cluster_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/kubelet"
)

func TestAGangRunsToItsEnd(t *testing.T) {
	t.Parallel()
	c := start(t, cluster.Options{Nodes: 2})
	client := kube(t, c.Config())
	createJob(t, client, newGangJob("train", 8))
	j := awaitComplete(t, client, "train")
	assert.Equal(t, "0-7", j.Status.CompletedIndexes)
	assert.Equal(t, int32(8), j.Status.Succeeded)

	groups, err := muster(t, c.Config()).SchedulingV1alpha2().PodGroups(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 1)
	assert.Equal(t, int32(8), groups.Items[0].Spec.SchedulingPolicy.Gang.MinCount)
	perNode := map[string]int{}
	for _, pod := range listPods(t, client) {
		perNode[pod.Spec.NodeName]++
		assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase)
		assert.Equal(t, groups.Items[0].Name, *pod.Spec.SchedulingGroup.PodGroupName)
	}
	assert.Equal(t, map[string]int{"node-1": 4, "node-2": 4}, perNode, "nodes have four cores each by default")
}

func TestAGangThatDoesNotFitHoldsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start(t, cluster.Options{Nodes: 2})
		client := kube(t, c.Config())
		createJob(t, client, newGangJob("wide", 9))
		pass(5 * time.Minute)
		pods := listPods(t, client)
		require.Len(t, pods, 9)
		for _, pod := range pods {
			assert.Empty(t, pod.Spec.NodeName)
		}
		groups, err := muster(t, c.Config()).SchedulingV1alpha2().PodGroups(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, groups.Items, 1)
		assert.Equal(t, []string{"PodGroupScheduled=False Unschedulable"}, tell(groups.Items[0].Status.Conditions, func(c *metav1.Condition) string {
			return fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
		}))
	})
}

func TestClustersOfOneProcessAreApart(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c, err := cluster.Start(quiet(t.Context()), cluster.Options{Nodes: 1 + i%2})
			if !assert.NoError(t, err) {
				return
			}
			defer c.Stop()
			client := kube(t, c.Config())
			name := fmt.Sprintf("job-of-%d", i)
			createJob(t, client, newGangJob(name, 4))
			awaitComplete(t, client, name)
			jobs, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
			assert.NoError(t, err)
			assert.Equal(t, []string{name}, tell(jobs.Items, func(j *batchv1.Job) string { return j.Name }))
			assert.NoError(t, c.Err())
		})
	}
	all.Wait()
}

func TestClustersDifferByTheirGates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gates      features.Gates
		wantServed bool
		wantGroups int
	}{
		"all on, as by default":             {features.Gates{}, true, 1},
		"without gangs for Jobs":            {features.Gates{}.With(features.WorkloadWithJob, false), true, 0},
		"as Kubernetes has them by default": {features.KubernetesDefaults(), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, cluster.Options{Nodes: 1, Gates: tc.gates})
			client := kube(t, c.Config())
			createJob(t, client, newGangJob("train", 2))
			awaitComplete(t, client, "train")
			groups, err := muster(t, c.Config()).SchedulingV1alpha2().PodGroups("").List(t.Context(), metav1.ListOptions{})
			if !tc.wantServed {
				assert.True(t, apierrors.IsNotFound(err), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Len(t, groups.Items, tc.wantGroups)
		})
	}
}

func TestAClusterGoesByItsScript(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start(t, cluster.Options{Nodes: 1, Script: kubelet.FailIndex(1, 3, 1, kubelet.Fixed{Duration: time.Minute})})
		client := kube(t, c.Config())
		createJob(t, client, newGangJob("train", 2))
		pass(time.Minute + 9*time.Second)
		j := awaitJob(t, client, "train", "a failure on", func(j *batchv1.Job) bool { return j.Status.Failed == 1 })
		assert.Equal(t, "0", j.Status.CompletedIndexes)
		pass(time.Minute + 2*time.Second)
		j = awaitComplete(t, client, "train")
		assert.Equal(t, int32(1), j.Status.Failed)
		assert.Equal(t, []string{"0 Succeeded", "1 Failed", "1 Succeeded"}, tell(listPods(t, client), func(pod *corev1.Pod) string {
			return pod.Annotations[batchv1.JobCompletionIndexAnnotation] + " " + string(pod.Status.Phase)
		}))
	})
}

func TestTheConfigurationIsTheCallersToChange(t *testing.T) {
	t.Parallel()
	c := start(t, cluster.Options{Token: "secret"})
	config := c.Config()
	assert.Equal(t, "secret", config.BearerToken)
	config.BearerToken = "wrong"
	_, err := kube(t, config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	_, err = kube(t, c.Config()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
}

func TestTheServerCanBeOpenedToOthers(t *testing.T) {
	t.Parallel()
	c := start(t, cluster.Options{Token: "secret"})
	url, err := c.Server().Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	assert.Contains(t, url, "127.0.0.1:")
}
