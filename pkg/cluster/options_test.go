package cluster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/kubelet"
)

func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	gates := features.Gates{}.With(features.GenericWorkload, false)
	cpus := func(name, amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(amount)}
	}
	for name, tc := range map[string]struct {
		options   cluster.Options
		wantField string
		wantValue any
		wantErr   string
	}{
		"less than no time": {
			cluster.Options{NodeGracePeriod: -1}, "Options.NodeGracePeriod", time.Duration(-1), `Invalid value: "-1ns": must be 500ms or more`,
		},
		"less time than it takes to be heard of": {cluster.Options{NodeGracePeriod: 1}, "Options.NodeGracePeriod", time.Duration(1), "must be 500ms or more"},
		"less than no node":                      {cluster.Options{Nodes: -1}, "Options.Nodes", -1, "Options.Nodes: Invalid value: -1: must be 0 to 100000"},
		"more nodes than fit":                    {cluster.Options{Nodes: 1 << 31}, "Options.Nodes", 1 << 31, "must be 0 to 100000"},
		"capacity of no nodes":                   {cluster.Options{NodeCapacity: cpus("cpu", "1")}, "Options.NodeCapacity", cpus("cpu", "1"), "set Options.Nodes"},
		"a script for no nodes":                  {cluster.Options{Script: kubelet.Fixed{}}, "Options.Script", "", "Options.Script: Forbidden: there are no nodes whose pods it could be asked about: set Options.Nodes"},
		"a runtime for no nodes":                 {cluster.Options{Runtime: kubelet.Processes(kubelet.ProcessOptions{})}, "Options.Runtime", "", "Options.Runtime: Forbidden: there are no nodes for containers to run on: set Options.Nodes"},
		"a script for processes": {
			cluster.Options{Nodes: 1, Script: kubelet.Fixed{}, Runtime: kubelet.Processes(kubelet.ProcessOptions{})}, "Options.Script", "",
			"Options.Script: Forbidden: is not asked where Options.Runtime runs commands: leave one of them out",
		},
		"a resource that is none": {cluster.Options{Nodes: 1, NodeCapacity: cpus("c p u", "1")}, "Options.NodeCapacity[c p u]", "c p u", "name part must consist of"},
		"less than no CPU":        {cluster.Options{Nodes: 1, NodeCapacity: cpus("cpu", "-1")}, "Options.NodeCapacity[cpu]", "-1", "must not be negative"},
		"a script that is none":   {cluster.Options{Nodes: 1, Script: kubelet.ScriptFunc(nil)}, "Options.Script", "", "the ScriptFunc is nil"},
		"a script that cannot be": {cluster.Options{Nodes: 1, Script: kubelet.Fixed{ExitCode: 300}}, "Options.Script.ExitCode", int32(300), "must be 0 to 255"},
		"less than no grace": {
			cluster.Options{Nodes: 1, Runtime: kubelet.Processes(kubelet.ProcessOptions{StopGrace: -1})}, "Options.Runtime.StopGrace", time.Duration(-1), "must not be negative",
		},
		"gates that need one that is off": {cluster.Options{Gates: gates}, "Options.Gates", gates.String(), "GangScheduling needs GenericWorkload"},
		"a controller that there is not": {
			cluster.Options{Controllers: []string{"job", "cronjob"}}, "Options.Controllers[1]", "cronjob",
			`Options.Controllers[1]: Unsupported value: "cronjob": supported values: "job", "podgroup-protection", "ttl-after-finished", "garbage-collector", "namespace", "clusterrole-aggregation", "node-lifecycle", "pod-garbage-collector", "scheduler"`,
		},
		"options of the Job controller": {cluster.Options{Job: job.Options{Namespace: "A B"}}, "Options.Job.Namespace", "A B", "RFC 1123 label"},
		"a fallback that Parity makes void": {
			cluster.Options{Parity: true, Job: job.Options{GangFallback: job.GangFallbackHold}}, "Options.Job.GangFallback", job.GangFallbackHold, "has no meaning with Parity",
		},
		"options of the server": {
			cluster.Options{TolerationSeconds: new(int64(-1))}, "Options.TolerationSeconds", int64(-1), "Options.TolerationSeconds: Invalid value: -1: must not be negative",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := cluster.Start(t.Context(), tc.options)
			require.ErrorContains(t, err, "checking cluster options: Options.")
			require.ErrorContains(t, err, tc.wantErr)
			assert.Nil(t, c)
			var fault *field.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tc.wantField, fault.Field)
			assert.Equal(t, tc.wantValue, fault.BadValue)
			require.Equal(t, "checking cluster options: "+tc.options.Validate().Error(), err.Error())
		})
	}
}

func TestAllOptionsThatAreRefusedAreNamedOnce(t *testing.T) {
	t.Parallel()
	_, err := cluster.Start(t.Context(), cluster.Options{
		Nodes: -1, Gates: features.Gates{}.With(features.GenericWorkload, false), Token: "a b", Job: job.Options{Workers: -1, MaxUncounted: -1},
	})
	for _, name := range []string{"Options.Nodes: ", "Options.Gates: ", "Options.Token: ", "Options.Job.Workers: ", "Options.Job.MaxUncounted: "} {
		require.Equal(t, 1, strings.Count(err.Error(), name), "%s in %s", name, err)
	}
	require.NoError(t, cluster.Options{}.Validate())
	require.NoError(t, cluster.Options{Nodes: 1, NodeGracePeriod: cluster.MinNodeGracePeriod}.Validate())
}

func TestCheckControllers(t *testing.T) {
	t.Parallel()
	require.NoError(t, cluster.CheckControllers(nil))
	require.NoError(t, cluster.CheckControllers(cluster.Controllers()))
	require.NoError(t, cluster.CheckControllers([]string{cluster.ControllerScheduler}))
	require.ErrorContains(t, cluster.CheckControllers([]string{"Job"}), `there is no controller "Job"`)

	names := cluster.Controllers()
	names[0] = "changed"
	assert.Equal(t, cluster.ControllerJob, cluster.Controllers()[0], "each call returns a list of its own")
}

// Each controller is known by what it does.
func TestControllers(t *testing.T) {
	all := cluster.Controllers()
	without := func(name string) []string {
		var names []string
		for _, other := range all {
			if other != name {
				names = append(names, other)
			}
		}
		return names
	}
	type done struct{ podMade, jobGone, groupGone, orphanGone, namespaceGone bool }
	for name, tc := range map[string]struct {
		controllers []string
		want        done
	}{
		"every one by default":            {nil, done{true, true, true, true, true}},
		"every one by name":               {all, done{true, true, true, true, true}},
		"none":                            {[]string{}, done{}},
		"all but that of Jobs":            {without(cluster.ControllerJob), done{false, true, true, true, true}},
		"all but that of finished Jobs":   {without(cluster.ControllerTTLAfterFinished), done{true, false, true, true, true}},
		"all but that of PodGroups":       {without(cluster.ControllerPodGroupProtection), done{true, true, false, true, true}},
		"all but the garbage collector":   {without(cluster.ControllerGarbageCollector), done{true, false, true, false, true}},
		"all but that of namespaces":      {without(cluster.ControllerNamespace), done{true, true, true, true, false}},
		"that of Jobs alone":              {[]string{cluster.ControllerJob}, done{podMade: true}},
		"that of PodGroups alone":         {[]string{cluster.ControllerPodGroupProtection}, done{groupGone: true}},
		"the garbage collector alone":     {[]string{cluster.ControllerGarbageCollector}, done{orphanGone: true}},
		"that of deleted namespaces only": {[]string{cluster.ControllerNamespace}, done{namespaceGone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c := start(t, cluster.Options{Controllers: tc.controllers})
				client, scheduling := kube(t, c.Config()), muster(t, c.Config())
				createJob(t, client, newJob("new", nil))
				createFinished(t, client, "finished")
				createDeletedPodGroup(t, scheduling, "unused")
				createOrphan(t, client, "orphan")
				createDoomedNamespace(t, client, "doomed")
				pass(time.Minute)

				pods := tell(listPods(t, client), func(pod *corev1.Pod) string { return pod.GenerateName })
				jobs, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				groups, err := scheduling.SchedulingV1alpha2().PodGroups("").List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				maps, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				namespaces, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				assert.Equal(t, tc.want, done{
					podMade:       len(pods) == 1,
					jobGone:       len(jobs.Items) == 1,
					groupGone:     len(groups.Items) == 0,
					orphanGone:    len(maps.Items) == 0,
					namespaceGone: len(namespaces.Items) == 4, // those that every cluster has
				})
			})
		})
	}
}

// createFinished makes a Job that another controller has run, and that is to be deleted a second after its end.
func createFinished(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	createJob(t, client, newJob(name, func(spec *batchv1.JobSpec) {
		spec.ManagedBy = new("example.com/other")
		spec.TTLSecondsAfterFinished = new(int32(1))
	}))
	jobs := client.BatchV1().Jobs(metav1.NamespaceDefault)
	j, err := jobs.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	at := metav1.NewTime(now())
	j.Status.StartTime, j.Status.CompletionTime = &at, &at
	for _, condition := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: at,
		})
	}
	_, err = jobs.UpdateStatus(t.Context(), j, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// createDeletedPodGroup makes a PodGroup that no pod uses, and deletes it.
func createDeletedPodGroup(t *testing.T, scheduling versioned.Interface, name string) {
	t.Helper()
	groups := scheduling.SchedulingV1alpha2().PodGroups(metav1.NamespaceDefault)
	_, err := groups.Create(t.Context(), &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 1},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, groups.Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// createOrphan makes an object whose owner is gone.
func createOrphan(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "gone", UID: "gone"}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func createDoomedNamespace(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	namespaces := client.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func TestWithoutNodesPodsStayAsTheyAre(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		client := kube(t, start(t, cluster.Options{}).Config())
		createJob(t, client, newGangJob("train", 2))
		pass(time.Hour)
		nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, nodes.Items)
		pods := listPods(t, client)
		require.Len(t, pods, 2)
		for _, pod := range pods {
			assert.Equal(t, corev1.PodPending, pod.Status.Phase)
			assert.Empty(t, pod.Status.Conditions, "no scheduler has looked at them")
		}
	})
}

func TestASchedulerForNodesThatClientsMake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		client := kube(t, start(t, cluster.Options{Controllers: append(cluster.Controllers(), cluster.ControllerScheduler)}).Config())
		createJob(t, client, newGangJob("train", 2))
		room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("10")}
		_, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "mine"},
			Status: corev1.NodeStatus{
				Capacity:    room,
				Allocatable: room,
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		// The server says of every new node that it is not ready. Controllers write the node too: patches do not meet them.
		_, err = client.CoreV1().Nodes().Patch(t.Context(), "mine", types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		pass(time.Minute)
		assert.Equal(t, []string{"mine Pending", "mine Pending"}, tell(listPods(t, client), func(pod *corev1.Pod) string {
			return pod.Spec.NodeName + " " + string(pod.Status.Phase)
		}), "bound, and then left to kubelets of the client's own")
	})
}

func TestNodesAreAsTheOptionsSay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		client := kube(t, start(t, cluster.Options{
			Nodes: 3, NodeCapacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), "example.com/gpu": resource.MustParse("8")},
		}).Config())
		pass(time.Second)
		nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"node-1 16 8 110", "node-2 16 8 110", "node-3 16 8 110"}, tell(nodes.Items, func(node *corev1.Node) string {
			room := node.Status.Allocatable
			gpus := room["example.com/gpu"]
			return node.Name + " " + room.Cpu().String() + " " + gpus.String() + " " + room.Pods().String()
		}))
	})
}

// The Job controller's own options are passed on, but for those that the cluster has a say in.
func TestOptionsOfTheJobController(t *testing.T) {
	for name, tc := range map[string]struct {
		options   cluster.Options
		wantAfter time.Duration // from a pod's end to that of its Job
	}{
		"by default there is next to no delay": {cluster.Options{}, cluster.DefaultJobSyncDelay},
		"with parity it is that of Kubernetes": {cluster.Options{Parity: true}, job.DefaultSyncDelay},
		"one that is asked for":                {cluster.Options{Job: job.Options{SyncDelay: 5 * time.Second}}, 5 * time.Second},
		"and so with parity":                   {cluster.Options{Parity: true, Job: job.Options{SyncDelay: 5 * time.Second}}, 5 * time.Second},
		"none":                                 {cluster.Options{Job: job.Options{SyncDelay: -1}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				tc.options.Nodes, tc.options.Script = 1, kubelet.Fixed{Duration: time.Minute}
				client := kube(t, start(t, tc.options).Config())
				synctest.Wait() // until the node is ready
				began := now()
				createJob(t, client, newJob("j", nil))
				awaitComplete(t, client, "j")
				// The scheduler waits for an instant so that it sees all pods of the one before.
				assert.Equal(t, time.Minute+tc.wantAfter, now().Sub(began).Round(time.Microsecond))
			})
		})
	}
}
