package job_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/features"
)

// optionOrdeals are about what only options change.
func optionOrdeals() map[string]ordeal {
	ignoring := func(spec *batchv1.JobSpec) {
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
	}
	drained := func(w *ordealWorld) {
		w.set(w.active()[0], corev1.PodFailed, 137, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
		pass(3 * time.Second)
	}
	vanish := func(w *ordealWorld, pod *corev1.Pod) {
		_, err := w.client.CoreV1().Pods(namespace).Patch(w.Context(), pod.Name, mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(w, err)
		w.remove(metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, pod)
	}
	return map[string]ordeal{
		"an ignored failure waits for the back-off": {play: func(w *ordealWorld) string {
			w.create(newJob("j", ignoring))
			w.kill()
			w.settle()
			drained(w)
			problem := wrong(len(w.active()) == 0, "a pod came too soon")
			pass(10 * time.Second)
			return first(problem, wrong(len(w.active()) == 1, "no pod came"))
		}},
		"or does not, if so wished": {
			options: func(o *job.Options) { o.IgnoredFailures = job.IgnoredFailuresNoBackoff },
			play: func(w *ordealWorld) string {
				w.create(newJob("j", ignoring))
				w.kill()
				w.settle()
				drained(w)
				return wrong(len(w.active()) == 1, "no pod came at once")
			},
		},
		"a pod that vanishes is made again": {play: func(w *ordealWorld) string {
			j := w.create(newJob("j", nil))
			w.kill()
			w.settle()
			w.start(w.active()...)
			vanish(w, w.active()[0])
			w.settle()
			return w.owns(j, 1)
		}},
		"or fails the Job, if work must not be done twice": {
			options: func(o *job.Options) { o.AtMostOnce = true },
			play: func(w *ordealWorld) string {
				w.create(newJob("j", size(2, 2)))
				w.kill()
				w.settle()
				w.start(w.active()...)
				vanish(w, w.active()[0])
				w.settle()
				c := batch.Condition(w.job("j"), batchv1.JobFailed)
				return first(wrong(c != nil && c.Reason == job.ReasonPodLost, "the job has not failed for it: %+v", c), wrong(len(w.active()) == 0, "a pod runs"))
			},
		},
		"also if it vanished while no controller looked": {
			options: func(o *job.Options) { o.AtMostOnce = true },
			before: func(w *ordealWorld) {
				stop := w.run(job.Options{AtMostOnce: true})
				w.create(newJob("j", size(2, 2)))
				pass(5 * time.Second)
				stop()
				vanish(w, w.active()[0])
			},
			play: func(w *ordealWorld) string {
				w.settle()
				c := batch.Condition(w.job("j"), batchv1.JobFailed)
				return wrong(c != nil && c.Reason == job.ReasonPodLost, "the job has not failed for it: %+v", c)
			},
		},
		"but not for pods that end, fail, or are too many": {
			options: func(o *job.Options) { o.AtMostOnce = true },
			play: func(w *ordealWorld) string {
				j := w.create(newJob("j", size(3, 3)))
				w.settle()
				w.fail(w.active()[0])
				w.settle()
				pass(20 * time.Second)
				w.patch("j", `{"spec":{"parallelism":1}}`)
				w.settle()
				problem := w.owns(j, 1)
				w.kill()
				w.patch("j", `{"spec":{"suspend":true}}`)
				w.settle()
				w.patch("j", `{"spec":{"suspend":false,"parallelism":3}}`)
				w.settle()
				problem = first(problem, w.owns(j, 3))
				w.succeed(w.active()...)
				w.settle()
				return first(problem, w.completed(3, 1))
			},
		},
		"a pod that is being deleted is replaced when it has ended, if work must not be done twice": {
			options: func(o *job.Options) { o.AtMostOnce = true },
			play: func(w *ordealWorld) string {
				j := w.create(newJob("j", nil))
				w.settle()
				pods := w.bind(w.active()...)
				w.start(pods...)
				w.remove(metav1.DeleteOptions{}, pods...)
				w.settle()
				problem := first(w.owns(j, 0), w.told("j", "Normal WaitingForPodsToEnd Waiting for the end of 1 deleted pod before"))
				w.kill()
				w.fail(pods...)
				w.settle()
				pass(20 * time.Second)
				return first(problem, w.owns(j, 1))
			},
		},
	}
}

// answerOrdeals are about what tells the user why nothing happens.
func answerOrdeals() map[string]ordeal {
	return map[string]ordeal{
		"the back-off is told, with its end": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("j", nil))
			w.kill()
			w.settle()
			w.fail(w.active()...)
			pass(3 * time.Second)
			return w.told("j", "Normal WaitingForBackoff Waiting until 2000-01-01T00:0")
		}},
		"so is that another controller is to run a Job": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("j", func(spec *batchv1.JobSpec) { spec.ManagedBy = new("example.com/other") }))
			w.kill()
			w.settle()
			return first(w.told("j", "Normal ManagedByOther Job is left to the controller example.com/other"), wrong(len(w.allPods()) == 0, "there are pods"))
		}},
		"so is a gang that finds no room": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("train", indexed(2, 2)))
			w.kill()
			w.settle()
			_, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			status := []byte(`{"status":{"conditions":[{"type":"PodGroupScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`)
			if _, err := w.scheduling.SchedulingV1alpha2().PodGroups(namespace).Patch(w.Context(), group.Name, mergePatch, status, metav1.PatchOptions{}, "status"); err != nil {
				return err.Error()
			}
			w.settle()
			return w.told("train", fmt.Sprintf("Normal WaitingForGang PodGroup %s waits to be scheduled: Unschedulable: 0/3 nodes", group.Name))
		}},
		"so are pods that must end before a Job has": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("j", both(size(2, 2), func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(0)) })))
			w.kill()
			w.settle()
			pods := w.bind(w.active()...)
			w.start(pods...)
			w.fail(pods[0])
			w.settle()
			return w.told("j", "Normal OutcomePending Job gets the condition Failed when all pods that are being deleted have ended")
		}},
	}
}

func withoutGangs() job.Options { return job.Options{Gates: features.KubernetesDefaults()} }

// TestSmallJobsAreNotStarvedByABigOne runs on clients that are throttled, as those of controllers in clusters are: the
// small Jobs come one after another while the big one is being made.
func TestSmallJobsAreNotStarvedByABigOne(t *testing.T) {
	const big, small = 5000, 100
	late := func(parity, replicas bool) (late int) {
		inBubble(t, func(t *testing.T) {
			w := newOrdealWorld(t)
			w.qps, w.burst = 50, 100
			if options := (job.Options{Parity: parity}); replicas {
				w.runReplicas(options)
			} else {
				w.runWith(w.wired(&atomic.Bool{}), options)
			}
			pass(time.Second)
			w.create(newJob("big", size(big, big)))
			pass(5 * time.Second)
			if replicas {
				w.kill()
				w.settle()
			}
			for i := range small {
				pass(300 * time.Millisecond)
				w.create(newJob(fmt.Sprintf("small-%d", i), nil))
			}
			pass(20 * time.Second)
			made := map[types.UID]time.Time{}
			for _, pod := range w.active() {
				made[metav1.GetControllerOf(pod).UID] = pod.CreationTimestamp.Time
			}
			for i := range small {
				j := w.job(fmt.Sprintf("small-%d", i))
				if at, is := made[j.UID]; !is || at.Sub(j.CreationTimestamp.Time) > 3*time.Second {
					late++
				}
			}
		})
		return late
	}
	assert.Zero(t, late(false, false), "small Jobs whose pod came more than 3 s after them")
	assert.Zero(t, late(false, true), "so with two replicas")
	assert.NotZero(t, late(true, false), "the built-in controller makes them wait")
}
