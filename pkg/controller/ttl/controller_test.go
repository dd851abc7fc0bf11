package ttl

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"
)

var jobs = batchv1.SchemeGroupVersion.WithResource("jobs")

// fixture is a controller on a fake client.
type fixture struct {
	*Controller
	kube *fake.Clientset
}

func newFixture(t *testing.T, opts Options, wrappers ...jobWrapper) *fixture {
	t.Helper()
	f := &fixture{kube: fake.NewClientset()}
	for _, job := range wrappers {
		require.NoError(t, f.kube.Tracker().Add(job.Job))
	}
	opts, err := opts.complete()
	require.NoError(t, err)
	f.Controller, err = newController(f.kube, opts)
	require.NoError(t, err)
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

// after lets the time of the bubble pass.
func after(d time.Duration) {
	<-clock.RealClock{}.After(d)
	synctest.Wait()
}

func (f *fixture) exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := f.kube.BatchV1().Jobs("ns").Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false
	}
	require.NoError(t, err)
	return true
}

func (f *fixture) update(t *testing.T, job jobWrapper) {
	t.Helper()
	require.NoError(t, f.kube.Tracker().Update(jobs, job.Job, "ns"))
	synctest.Wait()
}

// deletions returns what was asked to be deleted.
func (f *fixture) deletions() []clienttesting.DeleteActionImpl {
	var list []clienttesting.DeleteActionImpl
	for _, action := range f.kube.Actions() {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok {
			list = append(list, deletion)
		}
	}
	return list
}

func TestJobsAreDeletedWhenTheirTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{}, makeJob("at-once").ttl(0).finished(), makeJob("minute").ttl(60).finished(),
			makeJob("running").ttl(0), makeJob("kept").finished(), makeJob("going").ttl(0).finished().deleting())
		f.start(t)
		assert.False(t, f.exists(t, "at-once"))
		after(59*time.Second + 999*time.Millisecond)
		assert.True(t, f.exists(t, "minute"))
		after(time.Millisecond)
		assert.False(t, f.exists(t, "minute"))
		after(time.Hour)
		for _, name := range []string{"running", "kept", "going"} {
			assert.True(t, f.exists(t, name), name)
		}

		list := f.deletions()
		require.Len(t, list, 2)
		for _, deletion := range list {
			options := deletion.DeleteOptions
			assert.Equal(t, metav1.DeletePropagationForeground, *options.PropagationPolicy)
			assert.Equal(t, deletion.Name+"-uid", string(*options.Preconditions.UID))
			assert.Nil(t, options.Preconditions.ResourceVersion)
		}
	})
}

func TestChangesOfTheTimeToLiveCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{}, makeJob("longer").ttl(60).finished(), makeJob("shorter").ttl(3600).finished(),
			makeJob("none").ttl(60).finished(), makeJob("late").finished(), makeJob("ends").ttl(30))
		f.start(t)
		after(30 * time.Second)
		f.update(t, makeJob("longer").ttl(120).finished())
		f.update(t, makeJob("shorter").ttl(45).finished())
		f.update(t, makeJob("none").finished())
		f.update(t, makeJob("late").ttl(20).finished())
		assert.False(t, f.exists(t, "late"), "its time was over before it had one")

		f.update(t, makeJob("ends").ttl(30).condition(batchv1.JobFailed, "True", epoch.Add(30*time.Second)))
		after(15 * time.Second)
		assert.False(t, f.exists(t, "shorter"))
		assert.True(t, f.exists(t, "ends"))
		after(15 * time.Second)
		assert.False(t, f.exists(t, "ends"))
		assert.True(t, f.exists(t, "longer"), "the old time is over, the new one is not")
		after(time.Minute)
		assert.False(t, f.exists(t, "longer"))
		after(time.Hour)
		assert.True(t, f.exists(t, "none"))
	})
}

// The cache says that the time is over; what the API server says then decides.
func TestTheLiveJobDecides(t *testing.T) {
	cases := map[string]struct {
		live      *batchv1.Job
		wantLater bool
	}{
		"it has got more time":          {live: makeJob("j").ttl(600).finished().Job, wantLater: true},
		"it has no time to live now":    {live: makeJob("j").finished().Job},
		"it is being deleted":           {live: makeJob("j").ttl(0).finished().deleting().Job},
		"it is another that runs":       {live: makeJob("j").ttl(0).Job},
		"it is gone":                    {},
		"it is another that has ended ": {live: func() *batchv1.Job { job := makeJob("j").ttl(600).finished(); job.UID = "other"; return job.Job }(), wantLater: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, Options{}, makeJob("j").ttl(0).finished())
				f.kube.PrependReactor("get", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
					if tc.live == nil {
						return true, nil, apierrors.NewNotFound(batchv1.Resource("jobs"), "j")
					}
					return true, tc.live.DeepCopy(), nil
				})
				f.start(t)
				after(599 * time.Second)
				assert.Empty(t, f.deletions())
				after(time.Second)
				if !tc.wantLater {
					assert.Empty(t, f.deletions())
					return
				}
				require.Len(t, f.deletions(), 1)
				assert.Equal(t, tc.live.UID, *f.deletions()[0].DeleteOptions.Preconditions.UID)
			})
		})
	}
}

func TestRequestsThatFailAreTriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		verb  string
		fault error
	}{
		"reading fails":              {"get", apierrors.NewInternalError(assert.AnError)},
		"deleting fails":             {"delete", apierrors.NewInternalError(assert.AnError)},
		"it is another in that time": {"delete", apierrors.NewConflict(batchv1.Resource("jobs"), "j", assert.AnError)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, Options{}, makeJob("j").ttl(0).finished())
				var tries atomic.Int32
				f.kube.PrependReactor(tc.verb, "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
					return tries.Add(1) <= 3, nil, tc.fault
				})
				f.start(t)
				after(time.Second)
				assert.EqualValues(t, 4, tries.Load())
				assert.False(t, f.exists(t, "j"))
			})
		})
	}
}

func TestAJobWithoutATransitionTimeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{}, makeJob("j").ttl(0).condition(batchv1.JobComplete, "True", time.Time{}))
		f.start(t)
		after(time.Hour)
		assert.Empty(t, f.deletions())
		f.update(t, makeJob("j").ttl(0).finished())
		assert.False(t, f.exists(t, "j"), "once it has one its time is over")
	})
}

func TestAJobThatEndedInTheFutureWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{}, makeJob("j").ttl(10).condition(batchv1.JobComplete, "True", epoch.Add(time.Minute)))
		f.start(t)
		after(69 * time.Second)
		assert.True(t, f.exists(t, "j"))
		after(time.Second)
		assert.False(t, f.exists(t, "j"))
	})
}

func TestTheGivenClockCounts(t *testing.T) {
	fakeClock := testingclock.NewFakeClock(epoch)
	f := newFixture(t, Options{Clock: fakeClock}, makeJob("j").ttl(60).finished())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()

	// The controller has looked at the Job when it waits for its time: the queue's heartbeat is one waiter, this another.
	require.Eventually(t, func() bool { return fakeClock.Waiters() >= 2 }, time.Minute, time.Millisecond)
	assert.True(t, f.exists(t, "j"))
	fakeClock.Step(time.Minute)
	require.Eventually(t, func() bool { return !f.exists(t, "j") }, time.Minute, time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}

func TestRunEndsBeforeTheCacheIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{})
		f.kube.PrependReactor("list", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewInternalError(assert.AnError)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, f.Run(ctx))
	})
}

func TestNew(t *testing.T) {
	_, err := New(nil, Options{})
	require.EqualError(t, err, "making a ttl controller: there is no rest.Config")
	_, err = New(&rest.Config{}, Options{Workers: -1})
	require.EqualError(t, err, "making a ttl controller: Options.Workers: Invalid value: -1: must not be negative")
	_, err = New(&rest.Config{Host: "https://127.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, Options{})
	require.ErrorContains(t, err, "making a ttl controller: making an HTTP client: ")

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
		f := newFixture(t, Options{}, makeJob("j").ttl(0).finished())
		f.start(t)
		for _, action := range f.kube.Actions() {
			used[action.GetVerb()+" "+action.GetResource().Resource] = true
		}
	})
	assert.Equal(t, granted, used)
}
