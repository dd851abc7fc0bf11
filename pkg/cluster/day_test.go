package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/kubelet"
)

// TestADay lets a cluster live for a day of virtual time. What happens when is known to the moment.
func TestADay(t *testing.T) {
	clustertest.Run(t, dayOptions(), func(t *testing.T, c *clustertest.Cluster) {
		d := liveADay(t, c)
		assert.Empty(t, gocmp.Diff(theDay, d.read()), "(-want +got)")
		assert.Equal(t, []string{"flaky", "paused", "queued", "slow"}, jobNames(t, c.Kube))
		assert.Equal(t, 24*time.Hour/renewal, time.Duration(d.renewals), "of the lease")
	})
}

func dayOptions() cluster.Options {
	return cluster.Options{
		Nodes: 2,
		// Nobody watches the nodes: their Leases would be some 17,000 writes a day, and most of the test's time.
		Controllers: slices.DeleteFunc(cluster.Controllers(), func(name string) bool { return name == cluster.ControllerNodeLifecycle }),
		Script: kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
			return map[string]kubelet.Outcome{
				"flaky":  {Duration: 5 * time.Second, ExitCode: 1},
				"slow":   {Forever: true, Shutdown: 20 * time.Second},
				"brief":  {Duration: 2 * time.Hour},
				"paused": {Duration: 3 * time.Hour},
				"queued": {Duration: time.Minute},
			}[a.Job]
		}),
	}
}

// liveADay is what users do in the course of a day.
func liveADay(t *testing.T, c *clustertest.Cluster) *diary {
	t.Helper()
	d := keepDiary(t, c.Kube)
	c.Go(lead(c.Kube))
	createJob(t, c.Kube, newJob("flaky", func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(10)) }))
	createJob(t, c.Kube, newJob("slow", func(spec *batchv1.JobSpec) { spec.ActiveDeadlineSeconds = new(int64(6 * 60 * 60)) }))
	createJob(t, c.Kube, newJob("brief", func(spec *batchv1.JobSpec) { spec.TTLSecondsAfterFinished = new(int32(30 * 60)) }))
	paused := newGangJob("paused", 6)
	paused.Spec.ActiveDeadlineSeconds = new(int64(4 * 60 * 60))
	createJob(t, c.Kube, paused)
	c.Advance(30 * time.Minute)
	createJob(t, c.Kube, newGangJob("queued", 3)) // there are two cores left
	c.Advance(30 * time.Minute)
	suspend(t, c.Kube, "paused", true)
	c.Advance(11 * time.Hour)
	suspend(t, c.Kube, "paused", false)
	c.Advance(12 * time.Hour)
	return d
}

// renewal is how often the leader renews its lease.
const renewal = 5 * time.Minute

// lead returns a part of a user's that is elected leader.
func lead(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "leader"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "the only one"},
			},
			LeaseDuration: 15 * renewal, RenewDeadline: 10 * renewal, RetryPeriod: renewal,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
		return nil
	}
}

// theDay says what becomes of each Job, and at what time of the day.
var theDay = map[string][]string{
	// The first failure is answered after 10 seconds, each further one after twice the time, up to ten minutes. The
	// eleventh is one more than the limit.
	"flaky": {
		"0s pod made", "5s pod Failed",
		"15s pod made", "20s pod Failed",
		"40s pod made", "45s pod Failed",
		"1m25s pod made", "1m30s pod Failed",
		"2m50s pod made", "2m55s pod Failed",
		"5m35s pod made", "5m40s pod Failed",
		"11m0s pod made", "11m5s pod Failed",
		"21m5s pod made", "21m10s pod Failed",
		"31m10s pod made", "31m15s pod Failed",
		"41m15s pod made", "41m20s pod Failed",
		"51m20s pod made",
		"51m25s Failed BackoffLimitExceeded",
		"51m25s FailureTarget BackoffLimitExceeded",
		"51m25s pod Failed",
	},
	// The pod is given its time to end before the Job is over.
	"slow": {
		"0s pod made",
		"6h0m0s FailureTarget DeadlineExceeded",
		"6h0m20s Failed DeadlineExceeded",
		"6h0m20s pod Failed",
		"6h0m20s pod gone",
	},
	"brief": {
		"0s pod made",
		"2h0m0s Complete CompletionsReached",
		"2h0m0s SuccessCriteriaMet CompletionsReached",
		"2h0m0s pod Succeeded",
		"2h30m0s gone",
		"2h30m0s pod gone",
	},
	// The deadline counts from the resumption, and the work begins anew.
	"paused": {
		"0s pod made (6 times)",
		"1h0m0s Suspended JobSuspended",
		"1h0m0s pod Failed (6 times)",
		"1h0m0s pod gone (6 times)",
		"12h0m0s pod made (6 times)",
		"12h0m0s resumed",
		"15h0m0s Complete CompletionsReached",
		"15h0m0s SuccessCriteriaMet CompletionsReached",
		"15h0m0s pod Succeeded (6 times)",
	},
	// The gang waits for room, and takes none of what there is before all of it can start.
	"queued": {
		"30m0s pod made (3 times)",
		"1h1m0s Complete CompletionsReached",
		"1h1m0s SuccessCriteriaMet CompletionsReached",
		"1h1m0s pod Succeeded (3 times)",
	},
}

func suspend(t *testing.T, client kubernetes.Interface, name string, is bool) {
	t.Helper()
	_, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Patch(t.Context(), name, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, is), metav1.PatchOptions{})
	require.NoError(t, err)
}

func jobNames(t *testing.T, client kubernetes.Interface) []string {
	t.Helper()
	list, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return tell(list.Items, func(j *batchv1.Job) string { return j.Name })
}

// diary notes what happens to Jobs, and when.
type diary struct {
	morning  time.Time
	mu       sync.Mutex
	notes    map[string][]note        // by Job
	known    map[types.UID]string     // phases of pods
	said     map[types.UID]conditions // of Jobs
	renewals int                      // of leases
}

type conditions map[batchv1.JobConditionType]corev1.ConditionStatus

// keepDiary begins a diary, which is kept until the test ends.
func keepDiary(t *testing.T, client kubernetes.Interface) *diary {
	t.Helper()
	d := &diary{morning: now(), notes: map[string][]note{}, known: map[types.UID]string{}, said: map[types.UID]conditions{}}
	factory := informers.NewSharedInformerFactory(client, 0)
	for informer, see := range map[cache.SharedIndexInformer]func(watch.EventType, any){
		factory.Batch().V1().Jobs().Informer():          d.seeJob,
		factory.Core().V1().Pods().Informer():           d.seePod,
		factory.Coordination().V1().Leases().Informer(): d.seeLease,
	} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { see(watch.Added, object) },
			UpdateFunc: func(_, object any) { see(watch.Modified, object) },
			DeleteFunc: func(object any) { see(watch.Deleted, object) },
		})
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	synctest.Wait() // until the informers know what there is
	return d
}

type note struct {
	at   time.Duration // since the morning, to the millisecond
	what string
}

func (d *diary) note(job, what string) {
	d.notes[job] = append(d.notes[job], note{now().Sub(d.morning).Round(time.Millisecond), what})
}

func (d *diary) seeJob(event watch.EventType, object any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, ok := object.(*batchv1.Job)
	if !ok {
		return
	}
	if event == watch.Deleted {
		d.note(j.Name, "gone")
		return
	}
	said := d.said[j.UID]
	d.said[j.UID] = conditions{}
	for _, c := range j.Status.Conditions {
		d.said[j.UID][c.Type] = c.Status
		switch {
		case said[c.Type] == c.Status:
		case c.Status == corev1.ConditionTrue:
			d.note(j.Name, string(c.Type)+" "+c.Reason)
		case c.Type == batchv1.JobSuspended:
			d.note(j.Name, "resumed")
		}
	}
}

func (d *diary) seeLease(event watch.EventType, object any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lease, ok := object.(*coordinationv1.Lease); ok && event == watch.Modified && lease.Name == "leader" {
		d.renewals++
	}
}

func (d *diary) seePod(event watch.EventType, object any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	job := pod.Labels[batchv1.JobNameLabel]
	phase := string(pod.Status.Phase)
	switch {
	case event == watch.Added:
		d.note(job, "pod made")
	case event == watch.Deleted:
		d.note(job, "pod gone")
	case phase != d.known[pod.UID] && phase != string(corev1.PodRunning):
		d.note(job, "pod "+phase)
	}
	d.known[pod.UID] = phase
}

// read returns what was noted, in the order of time and then of words: what happens to a Job and to its pods in the same
// moment arrives in any order. What happened to several pods is a single note with their number.
func (d *diary) read() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	read := map[string][]string{}
	for job, notes := range d.notes {
		slices.SortFunc(notes, func(a, b note) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
		times := map[note]int{}
		for _, n := range notes {
			times[n]++
		}
		for _, n := range slices.Compact(notes) {
			text := n.at.String() + " " + n.what
			if times[n] > 1 {
				text += fmt.Sprintf(" (%d times)", times[n])
			}
			read[job] = append(read[job], text)
		}
	}
	return read
}
