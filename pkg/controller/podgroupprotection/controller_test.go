package podgroupprotection

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned/fake"
)

// fixture is a controller on fake clients.
type fixture struct {
	*Controller
	kube       *kubefake.Clientset
	scheduling *fake.Clientset
}

func newFixture(t *testing.T, pods []podWrapper, groups ...*schedulingv1alpha2.PodGroup) *fixture {
	t.Helper()
	f := &fixture{kube: kubefake.NewClientset(), scheduling: fake.NewClientset()}
	for _, pod := range pods {
		require.NoError(t, f.kube.Tracker().Add(pod.Pod))
	}
	for _, group := range groups {
		require.NoError(t, f.scheduling.Tracker().Add(group))
	}
	opts, err := Options{}.complete()
	require.NoError(t, err)
	f.Controller = &Controller{opts: opts, kube: f.kube, scheduling: f.scheduling}
	return f
}

// start runs the controller until the test ends, and fails the test if it does not end then.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	synctest.Wait()
}

func (f *fixture) finalizers(t *testing.T, name string) []string {
	t.Helper()
	group, err := f.scheduling.SchedulingV1alpha2().PodGroups("ns").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return group.Finalizers
}

func TestGroupsThatNobodyUsesAreReleasedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alive := makeGroup("alive", Finalizer)
		alive.DeletionTimestamp = nil
		pods := []podWrapper{makePod("a").in("used"), makePod("b").in("ended").phase(corev1.PodSucceeded), makePod("c")}
		f := newFixture(t, pods, alive, makeGroup("used", Finalizer), makeGroup("ended", "a/b", Finalizer), makeGroup("empty", Finalizer), makeGroup("foreign", "a/b"))
		f.start(t)
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "alive"))
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "used"))
		assert.Equal(t, []string{"a/b"}, f.finalizers(t, "ended"))
		assert.Empty(t, f.finalizers(t, "empty"))
		assert.Equal(t, []string{"a/b"}, f.finalizers(t, "foreign"))
	})
}

func TestGroupsAreReleasedWithTheirLastPod(t *testing.T) {
	ends := map[string]func(t *testing.T, f *fixture){
		"the pod goes": func(t *testing.T, f *fixture) {
			require.NoError(t, f.kube.CoreV1().Pods("ns").Delete(t.Context(), "b", metav1.DeleteOptions{}))
		},
		"the pod ends": func(t *testing.T, f *fixture) {
			require.NoError(t, f.kube.Tracker().Update(pods, makePod("b").in("g").deleting().phase(corev1.PodFailed).Pod, "ns"))
		},
		"the pod is replaced by one that is not of the group": func(t *testing.T, f *fixture) {
			require.NoError(t, f.kube.Tracker().Update(pods, makePod("b").in("h").again().Pod, "ns"))
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []podWrapper{makePod("a").in("g"), makePod("b").in("g")}, makeGroup("g", Finalizer))
				f.start(t)

				require.NoError(t, f.kube.Tracker().Update(pods, makePod("a").in("g").phase(corev1.PodSucceeded).Pod, "ns"))
				synctest.Wait()
				assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"), "one pod still runs")

				require.NoError(t, f.kube.Tracker().Update(pods, makePod("b").in("g").deleting().Pod, "ns"))
				synctest.Wait()
				assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"), "it still runs while it is being deleted")

				end(t, f)
				synctest.Wait()
				assert.Empty(t, f.finalizers(t, "g"))
			})
		})
	}
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")

func TestGroupIsReleasedWhenItsDeletionComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alive := makeGroup("g", Finalizer)
		alive.DeletionTimestamp = nil
		f := newFixture(t, nil, alive)
		f.start(t)
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"))

		groups := schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups")
		require.NoError(t, f.scheduling.Tracker().Update(groups, makeGroup("g", Finalizer), "ns"))
		synctest.Wait()
		assert.Empty(t, f.finalizers(t, "g"))
	})
}

func TestPodsAreWatchedFromTheFirstPodGroupThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alive := makeGroup("g", Finalizer)
		alive.DeletionTimestamp = nil
		f := newFixture(t, []podWrapper{makePod("a").in("g")}, alive)
		f.start(t)
		assert.Empty(t, f.kube.Actions())

		groups := schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups")
		require.NoError(t, f.scheduling.Tracker().Update(groups, makeGroup("g", Finalizer), "ns"))
		synctest.Wait()
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"))
		assert.True(t, slices.ContainsFunc(f.kube.Actions(), func(action clienttesting.Action) bool { return action.Matches("watch", "pods") }))
	})
}

func TestPodsOfAnotherNamespaceDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := makePod("a").in("g")
		pod.Namespace = "other"
		f := newFixture(t, []podWrapper{pod}, makeGroup("g", Finalizer))
		f.start(t)
		assert.Empty(t, f.finalizers(t, "g"))
	})
}

func TestWritesThatFailAreTriedAgain(t *testing.T) {
	resource := schedulingv1alpha2.Resource("podgroups")
	for name, fault := range map[string]error{
		"a conflict":        apierrors.NewConflict(resource, "g", nil),
		"an internal error": apierrors.NewInternalError(assert.AnError),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, nil, makeGroup("g", Finalizer))
				var tries atomic.Int32
				f.scheduling.PrependReactor("update", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) {
					return tries.Add(1) <= 3, nil, fault
				})
				f.start(t)
				<-clock.RealClock{}.After(time.Second)
				synctest.Wait()
				assert.EqualValues(t, 4, tries.Load())
				assert.Empty(t, f.finalizers(t, "g"))
			})
		})
	}
}

func TestAGroupThatIsGoneIsLeftAtThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, makeGroup("g", Finalizer))
		var tries atomic.Int32
		f.scheduling.PrependReactor("update", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) {
			tries.Add(1)
			return true, nil, apierrors.NewNotFound(schedulingv1alpha2.Resource("podgroups"), "g")
		})
		f.start(t)
		<-clock.RealClock{}.After(time.Hour)
		assert.EqualValues(t, 1, tries.Load())
	})
}

func TestRunSaysThatTheAPIIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.scheduling.PrependReactor("list", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewGenericServerResponse(404, "get", schedulingv1alpha2.Resource("podgroups"), "", "", 0, true)
		})
		require.ErrorIs(t, f.Run(t.Context()), ErrNotServed)
	})
}

func TestRunEndsBeforeTheCachesAreFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewInternalError(assert.AnError)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, f.Run(ctx))
	})
}

func TestRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, makeGroup("g", Finalizer))
		for _, want := range []int{0, 0} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			require.NoError(t, f.Run(ctx))
			cancel()
			assert.Len(t, f.finalizers(t, "g"), want)
		}
	})
}

func TestPodInADeletionThatWasMissed(t *testing.T) {
	pod := makePod("a").Pod
	assert.Same(t, pod, podIn(cache.DeletedFinalStateUnknown{Obj: pod}))
	assert.Same(t, pod, podIn(pod))
	assert.Nil(t, podIn(nil))
	assert.Nil(t, podIn(cache.DeletedFinalStateUnknown{}))
}

func TestTrimPodKeepsWhatCounts(t *testing.T) {
	pod := makePod("a").in("g").phase(corev1.PodFailed)
	pod.Labels = map[string]string{"a": "b"}
	pod.Spec.NodeName = "node"
	trimmed, err := trimPod(pod.Pod)
	require.NoError(t, err)
	assert.Equal(t, makePod("a").in("g").phase(corev1.PodFailed).Pod, trimmed)
}

func TestNew(t *testing.T) {
	_, err := New(nil, Options{})
	require.EqualError(t, err, "making a podgroup protection controller: there is no rest.Config")
	_, err = New(&rest.Config{}, Options{Workers: -1})
	require.EqualError(t, err, "making a podgroup protection controller: Options.Workers: Invalid value: -1: must not be negative")
	_, err = New(&rest.Config{Host: "https://127.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, Options{})
	require.ErrorContains(t, err, "making a podgroup protection controller: making an HTTP client: ")

	controller, err := New(&rest.Config{Host: "http://127.0.0.1"}, Options{})
	require.NoError(t, err)
	assert.Equal(t, DefaultWorkers, controller.opts.Workers)
	assert.Equal(t, clock.RealClock{}, controller.opts.Clock)
}

// TestRBACGrantsWhatIsUsed holds the manifest against the requests of a whole life of the controller.
func TestRBACGrantsWhatIsUsed(t *testing.T) {
	var role rbacv1.ClusterRole
	for document := range strings.SplitSeq(RBAC, "\n---\n") {
		if strings.Contains(document, "kind: ClusterRole\n") && !strings.Contains(document, "roleRef") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &role))
		}
	}
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted[verb+" "+resource] = true
			}
		}
	}
	used := map[string]bool{}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []podWrapper{makePod("a").in("g").phase(corev1.PodFailed)}, makeGroup("g", Finalizer))
		f.start(t)
		for _, action := range append(f.kube.Actions(), f.scheduling.Actions()...) {
			used[action.GetVerb()+" "+action.GetResource().Resource] = true
		}
	})
	assert.Equal(t, granted, used)
}

// asHeadcount answers lists of pods that are not those of the cache.
func (f *fixture) asHeadcount(lists *atomic.Int32, version string, pods ...podWrapper) {
	f.kube.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		options := action.(clienttesting.ListActionImpl).ListOptions
		if options.Limit == 0 {
			return false, nil, nil
		}
		lists.Add(1)
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
		for i, pod := range pods { // a page for each
			if options.Continue != strconv.Itoa(i) && (i > 0 || options.Continue != "") {
				continue
			}
			list.Items = append(list.Items, *pod.Pod)
			if i+1 < len(pods) {
				list.Continue = strconv.Itoa(i + 1)
			}
		}
		return true, list, nil
	})
}

func TestPodsThatTheCacheDoesNotShowYetCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, makeGroup("g", Finalizer), makeGroup("ended", Finalizer))
		var lists atomic.Int32
		f.asHeadcount(&lists, "9", makePod("a").in("ended").phase(corev1.PodFailed), makePod("b").in("g"))
		f.start(t)
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"))
		assert.Empty(t, f.finalizers(t, "ended"))
		assert.EqualValues(t, 2, lists.Load(), "two pages, and for both groups together")

		late := makePod("b").in("g")
		late.ResourceVersion = "8"
		require.NoError(t, f.kube.Tracker().Add(late.Pod))
		synctest.Wait()
		assert.Equal(t, []string{Finalizer}, f.finalizers(t, "g"))
		require.NoError(t, f.kube.CoreV1().Pods("ns").Delete(t.Context(), "b", metav1.DeleteOptions{}))
		synctest.Wait()
		assert.Empty(t, f.finalizers(t, "g"), "the cache has come as far as the deletion")
		assert.EqualValues(t, 2, lists.Load())
	})
}

func TestHeadcount(t *testing.T) {
	group := func(namespace, version string) *schedulingv1alpha2.PodGroup {
		group := makeGroup("g", Finalizer)
		group.Namespace, group.ResourceVersion = namespace, version
		return group
	}
	var lists atomic.Int32
	f := newFixture(t, nil)
	f.asHeadcount(&lists, "9", makePod("a").in("g"))
	live := headcount{kube: f.kube}
	for _, step := range []struct {
		group     *schedulingv1alpha2.PodGroup
		want      bool
		wantLists int32
		reason    string
	}{
		{group("ns", "5"), true, 1, "nothing is known"},
		{group("ns", "9"), true, 1, "the list is as late"},
		{group("ns", "10"), true, 2, "the list is older"},
		{group("other", "5"), false, 3, "the list is of another namespace"},
		{group("ns", ""), true, 4, "the version cannot be compared"},
	} {
		got, err := live.isHeld(t.Context(), step.group)
		require.NoError(t, err)
		assert.Equal(t, step.want, got, step.reason)
		assert.Equal(t, step.wantLists, lists.Load(), step.reason)
	}

	f.kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(assert.AnError)
	})
	_, err := live.isHeld(t.Context(), group("third", "5"))
	require.ErrorContains(t, err, "listing the pods of namespace third: ")
	_, err = live.isHeld(t.Context(), group("third", "5"))
	require.Error(t, err, "a list that failed answers nothing")
}
