package clustertest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/testing/expect"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

func TestSettleTakesNoTime(t *testing.T) {
	clustertest.Run(t, cluster.Options{Nodes: 1}, func(t *testing.T, c *clustertest.Cluster) {
		began := c.Now()
		assert.Equal(t, time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC), began)
		job := newJob(0)
		job.Spec.Completions = new(int32(50)) // one after another, each of which ends at once
		createJob(t, c, job)
		c.Settle()
		assert.EqualValues(t, 50, c.Job("work").Status.Succeeded)
		assert.Len(t, c.PodsOf("default/work"), 50)
		assert.Len(t, c.Pods("batch.kubernetes.io/job-name=work"), 50)
		assert.Equal(t, began, c.Now())
	})
}

func TestAdvanceIsExact(t *testing.T) {
	options := cluster.Options{Nodes: 1, Script: kubelet.Fixed{Duration: time.Hour}}
	clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
		began := c.Now()
		createJob(t, c, newJob(0))
		c.Advance(time.Hour - time.Millisecond)
		assert.EqualValues(t, 1, c.Job("work").Status.Active)
		c.Advance(time.Millisecond)
		assert.EqualValues(t, 1, c.Job("work").Status.Succeeded)
		c.AdvanceTo(began) // is past
		assert.Equal(t, began.Add(time.Hour), c.Now())
	})
}

// TestAnyClock runs one test on both clocks.
func TestAnyClock(t *testing.T) {
	test := func(t *testing.T, c *clustertest.Cluster) {
		created := make(chan string, 1)
		c.Go(func(ctx context.Context) error {
			events, err := c.Kube.BatchV1().Jobs("").Watch(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			defer events.Stop()
			for {
				select {
				case event := <-events.ResultChan():
					if event.Type == watch.Added {
						created <- "seen"
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		c.Settle()
		createJob(t, c, newJob(0))
		job := c.UntilFinished("work", time.Minute)
		assert.True(t, batch.HasCondition(job, "Complete"))
		assert.Equal(t, "seen", <-created)
		c.Advance(50 * time.Millisecond)
	}
	t.Run("virtual", func(t *testing.T) { clustertest.Run(t, cluster.Options{Nodes: 1}, test) })
	t.Run("real", func(t *testing.T) { clustertest.RunOnRealClock(t, cluster.Options{Nodes: 1}, test) })
}

// TestLeaderElection has a user's own parts take over from one another, when leases run out.
func TestLeaderElection(t *testing.T) {
	clustertest.Run(t, cluster.Options{}, func(t *testing.T, c *clustertest.Cluster) {
		began := c.Now()
		elect := func(ctx context.Context, name string, leads func()) error {
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "lead"}, Client: c.Kube.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leads() }, OnStoppedLeading: func() {}},
			})
			if err != nil {
				return err
			}
			elector.Run(ctx)
			return nil
		}
		first, dies := context.WithCancel(t.Context())
		c.Go(func(context.Context) error { return elect(first, "first", func() {}) })
		c.Settle()
		var took time.Duration
		c.Go(func(ctx context.Context) error {
			return elect(ctx, "second", func() { took = c.Now().Sub(began) })
		})
		c.Advance(time.Hour)
		dies()
		c.Until(time.Minute, "the second's lead", func() bool {
			lease, err := c.Kube.CoordinationV1().Leases("default").Get(t.Context(), "lead", metav1.GetOptions{})
			return err == nil && *lease.Spec.HolderIdentity == "second"
		})
		// The second sees the last renewal, and that the lease has run out since, at retries that come every 2 s to 4.4 s.
		assert.GreaterOrEqual(t, took, time.Hour+13*time.Second)
		assert.LessOrEqual(t, took, time.Hour+24*time.Second)
	})
}

// failures are tests that are to fail, each with a message that says why.
var failures = map[string]struct {
	test func(t *testing.T, c *clustertest.Cluster)
	want string
}{
	"a condition that never holds": {
		func(_ *testing.T, c *clustertest.Cluster) { c.Until(time.Hour, "peace", func() bool { return false }) },
		"peace did not come to pass within 1h0m0s",
	},
	"an object that never is as it should be": {
		func(t *testing.T, c *clustertest.Cluster) {
			createJob(t, c, newJob(0))
			clustertest.UntilIs(c, time.Hour, c.Kube.BatchV1().Jobs("default"), "work", expect.JobIs("Failed"))
		},
		"that Job work should be Failed did not come to pass within 1h0m0s",
	},
	"an object that is not there": {
		func(_ *testing.T, c *clustertest.Cluster) {
			clustertest.UntilIs(c, time.Hour, c.Kube.BatchV1().Jobs("default"), "work", expect.JobIs("Failed"))
		},
		"there is no Job work: that Job work should be Failed",
	},
	"a Job that does not end": {
		func(t *testing.T, c *clustertest.Cluster) {
			createJob(t, c, newJob(0))
			c.UntilFinished("work", time.Hour)
		},
		"Job default/work has 1 active, 0 terminating, 0 succeeded and 0 failed pods\n" +
			`  pod work-\S+ is Pending, held by batch.kubernetes.io/job-tracking\n` +
			`  event of job work: SuccessfulCreate: Created pod: work-\S+\n` +
			"the end of job work did not come to pass within 1h0m0s",
	},
	"the loss of a node of a cluster without any": {
		func(_ *testing.T, c *clustertest.Cluster) { c.LoseNode("node-1") },
		`there is no node "node-1" that the cluster runs: set Options.Nodes`,
	},
	"time that goes back": {
		func(_ *testing.T, c *clustertest.Cluster) { c.Advance(-time.Hour) },
		"advancing by -1h0m0s: time only goes on",
	},
	"a socket in a bubble": {
		func(t *testing.T, c *clustertest.Cluster) {
			_, err := c.Server().Listen(t.Context(), "127.0.0.1:0")
			require.NoError(t, err)
		},
		"listening at .*: there can be no sockets in a testing/synctest bubble",
	},
	"a kubeconfig in a bubble": {
		func(_ *testing.T, c *clustertest.Cluster) { c.Kubeconfig() },
		"opening the cluster to other processes: listening at .*: there can be no sockets in a testing/synctest bubble",
	},
	"a controller that fails": {
		func(_ *testing.T, c *clustertest.Cluster) {
			c.Go(func(context.Context) error { return errors.New("out of luck") })
			c.Settle()
		},
		"something that runs in the cluster has failed: out of luck",
	},
	"a controller that ends early, and so does nothing": {
		func(t *testing.T, c *clustertest.Cluster) {
			c.Go(func(context.Context) error { return nil })
			createJob(t, c, wrappers.MakeJob("work", "default").ManagedBy("example.com/mine").Obj())
			clustertest.UntilIs(c, time.Hour, c.Kube.BatchV1().Jobs("default"), "work", expect.JobActive(1))
		},
		`what was given to Go at clustertest_test.go:\d+ has ended, without an error, while the cluster still runs`,
	},
	"a controller that does not end": {
		func(_ *testing.T, c *clustertest.Cluster) {
			c.Go(func(context.Context) error { <-make(chan int); return nil })
		},
		"what was given to Go still runs 1m0s after its context has ended",
	},
	"a goroutine that is left": {
		func(*testing.T, *clustertest.Cluster) { go leftBehind() },
		"goroutines are left after the end of the test",
	},
	"a job that is not there": {
		func(_ *testing.T, c *clustertest.Cluster) { c.Job("none") },
		`getting job none: jobs.batch "none" not found`,
	},
	"a controller that writes without end": {
		func(_ *testing.T, c *clustertest.Cluster) {
			c.Go(func(ctx context.Context) error {
				for ctx.Err() == nil {
					note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}
					if _, err := c.Kube.CoreV1().ConfigMaps("default").Create(ctx, note, metav1.CreateOptions{}); err != nil {
						return err
					}
					clock.RealClock{}.Sleep(10 * time.Nanosecond)
				}
				return nil
			})
			c.Settle()
		},
		"the cluster does not come to rest",
	},
}

func leftBehind() { <-make(chan int) }

// TestStart has a cluster in real time, for a process that connects to it.
func TestStart(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Nodes: 1})
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.BatchV1().Jobs("default").Create(t.Context(), newJob(0), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.True(t, batch.HasCondition(c.UntilFinished("work", time.Minute), "Complete"))
}

func TestUntilIs(t *testing.T) {
	options := cluster.Options{Nodes: 1, Script: kubelet.Fixed{Duration: time.Hour}}
	clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
		began, jobs := c.Now(), c.Kube.BatchV1().Jobs("default")
		createJob(t, c, wrappers.MakeJob("work", "default").TTL(time.Minute).Obj())
		assert.Equal(t, "work", clustertest.UntilIs(c, time.Minute, jobs, "work", expect.JobActive(1)).Name)
		assert.Equal(t, began, c.Now())
		assert.EqualValues(t, 1, clustertest.UntilIs(c, 2*time.Hour, jobs, "work", expect.JobIs("Complete")).Status.Succeeded)
		assert.Equal(t, time.Hour, c.Now().Sub(began))
		assert.Nil(t, clustertest.UntilIs(c, time.Hour, jobs, "work", expect.Gone[*batchv1.Job]()))
		assert.Equal(t, time.Hour+time.Minute, c.Now().Sub(began))
	})
}

func TestANodeIsLostAndFound(t *testing.T) {
	options := cluster.Options{Nodes: 1, Script: kubelet.Fixed{Duration: time.Minute}}
	clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
		createJob(t, c, newJob(0))
		c.Settle()
		c.LoseNode("node-1")
		c.Advance(2 * time.Minute)
		assert.Equal(t, corev1.PodRunning, c.PodsOf("work")[0].Status.Phase, "nobody says that it has ended")
		c.RestoreNode("node-1")
		assert.EqualValues(t, 1, c.UntilFinished("work", time.Minute).Status.Succeeded)
	})
}

// TestAnEndBeforeTheTestsIsNoFailure has something end that a test may well end itself.
func TestAnEndBeforeTheTestsIsNoFailure(t *testing.T) {
	clustertest.Run(t, cluster.Options{}, func(_ *testing.T, c *clustertest.Cluster) {
		c.Go(func(context.Context) error { return nil })
		c.Settle()
	})
}

// plain are the lines of a test's log, which is indented.
var plain = regexp.MustCompile(`\n {8}( *)`)

// TestFailuresAreReadable runs this package's tests again, those that fail.
func TestFailuresAreReadable(t *testing.T) {
	const variable = "CLUSTERTEST_FAILURE"
	if name := os.Getenv(variable); name != "" {
		clustertest.Run(t, cluster.Options{}, failures[name].test)
		return
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for name, tc := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), program, "-test.run=^TestFailuresAreReadable$")
			command.Env = append(os.Environ(), variable+"="+name)
			output, err := command.CombinedOutput()
			require.Error(t, err, "the test has not failed")
			assert.Regexp(t, tc.want, plain.ReplaceAllString(string(output), "\n$1"))
			assert.Regexp(t, `The last of \d+ requests to the API server`, string(output))
			assert.NotContains(t, string(output), "panic:")
			assert.Contains(t, string(output), "--- FAIL: TestFailuresAreReadable")
			if testing.Verbose() {
				t.Logf("%s", output)
			}
		})
	}
}
