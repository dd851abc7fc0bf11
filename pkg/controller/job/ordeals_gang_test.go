package job_test

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/controller/job"
)

// gangOrdeals are about the Workload and the PodGroup of a Job.
func gangOrdeals() map[string]ordeal {
	return map[string]ordeal{
		"a gang with a name of 60 characters starts": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob(strings.Repeat("n", 60), indexed(2, 2)))
			w.kill()
			w.settle()
			_, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			return w.inGroup(2, group.Name)
		}},
		"a Workload that the user made for the Job is honoured, with its policy": {
			builtInFails: true,
			before:       func(w *ordealWorld) { w.userWorkload("mine") },
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(3, 3)))
				w.kill()
				w.settle()
				_, group, problem := w.oneGang()
				if problem != "" {
					return problem
				}
				return first(w.inGroup(3, group.Name),
					wrong(group.Spec.SchedulingPolicy.Gang.MinCount == 2, "the group's policy is not the user's"),
					wrong(metav1.IsControlledBy(group, w.job("train")), "the job does not control its group"))
			},
		},
		"a Workload that the user made just before the Job is honoured": {builtInFails: true, play: func(w *ordealWorld) string {
			w.userWorkload("mine")
			w.create(newJob("train", indexed(3, 3)))
			w.kill()
			w.settle()
			_, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			return first(w.inGroup(3, group.Name), wrong(group.Spec.PodGroupTemplateRef.Workload.WorkloadName == "mine", "the group is not the user's"))
		}},
		"a Workload that a deleted Job of the same name left does not count": {builtInFails: true, play: func(w *ordealWorld) string {
			old := w.create(newJob("train", indexed(2, 2)))
			w.kill()
			w.settle()
			w.deleteJob("train")
			w.settle()
			again := w.create(newJob("train", indexed(2, 2)))
			w.settle()
			_, groups := w.gang()
			for _, group := range groups {
				if metav1.IsControlledBy(&group, again) {
					pods := w.ownedBy(again)
					return wrong(old.UID != again.UID && len(pods) == 2 && groupOf(pods[0]) == group.Name, "the new job's pods are not in its group")
				}
			}
			return "the new job has no group of its own"
		}},
		"two Workloads of the user's hold the pods back until one is gone": {
			builtInFails: true,
			before:       func(w *ordealWorld) { w.userWorkload("mine-a"); w.userWorkload("mine-b") },
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(2, 2)))
				w.settle()
				problem := first(wrong(len(w.allPods()) == 0, "there are pods"), wrong(batch.HasCondition(w.job("train"), job.GangHeld), "no condition tells"),
					w.told("train", "Warning AmbiguousWorkload Workloads mine-a, mine-b all name the Job"))
				w.kill()
				w.deleteWorkload("mine-a")
				w.settle()
				_, group, missing := w.oneGang()
				if missing != "" {
					return first(problem, missing)
				}
				return first(problem, w.inGroup(2, group.Name), wrong(!batch.HasCondition(w.job("train"), job.GangHeld), "the condition is true still"))
			},
		},
		"or the pods are made without a group, if so wished": {
			options: func(o *job.Options) { o.GangFallback = job.GangFallbackPlainPods },
			before:  func(w *ordealWorld) { w.userWorkload("mine-a"); w.userWorkload("mine-b") },
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(2, 2)))
				w.kill()
				w.settle()
				return first(w.inGroup(2, ""), w.told("train", "Warning AmbiguousWorkload Workloads mine-a, mine-b all name the Job"))
			},
		},
		"the Workload of a running gang that is deleted is made again": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("train", indexed(2, 2)))
			w.settle()
			workload, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			w.deleteWorkload(workload.Name)
			w.kill()
			w.fail(w.active()[0])
			pass(20 * time.Second)
			w.settle()
			_, same, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			return first(w.inGroup(2, group.Name), wrong(same.UID == group.UID, "there is another group"))
		}},
		"pods keep naming a PodGroup that is being deleted, and it is made again": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("train", indexed(2, 2)))
			w.settle()
			_, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			if err := w.scheduling.SchedulingV1alpha2().PodGroups(namespace).Delete(w.Context(), group.Name, metav1.DeleteOptions{}); err != nil {
				return err.Error()
			}
			w.kill()
			w.fail(w.active()[0])
			pass(20 * time.Second)
			w.settle()
			problem = first(w.inGroup(2, group.Name), w.told("train", "Warning PodGroupIsDeleted PodGroup "+group.Name))
			w.removePodGroupFinalizer(group.Name)
			w.settle()
			_, again, missing := w.oneGang()
			if missing != "" {
				return first(problem, missing)
			}
			return first(problem, w.inGroup(2, again.Name), wrong(again.UID != group.UID, "the group is the old one"))
		}},
		"a gang that was suspended before the controller knew of gangs gets its group at resume": {
			builtInFails: true,
			before: func(w *ordealWorld) {
				stop := w.run(withoutGangs())
				w.create(newJob("train", both(indexed(2, 2), suspendedSpec)))
				pass(5 * time.Second)
				stop()
			},
			play: func(w *ordealWorld) string {
				w.settle()
				w.kill()
				w.patch("train", `{"spec":{"suspend":false}}`)
				w.settle()
				_, group, problem := w.oneGang()
				if problem != "" {
					return problem
				}
				return w.inGroup(2, group.Name)
			},
		},
		"a gang whose size changes while it is suspended gets the right group": {builtInFails: true, play: func(w *ordealWorld) string {
			w.create(newJob("train", both(indexed(2, 2), suspendedSpec)))
			w.settle()
			if err := w.tryPatch("train", `{"spec":{"parallelism":3,"completions":3}}`); err != nil {
				return err.Error()
			}
			w.kill()
			w.patch("train", `{"spec":{"suspend":false}}`)
			w.settle()
			_, group, problem := w.oneGang()
			if problem != "" {
				return problem
			}
			return first(w.inGroup(3, group.Name), wrong(group.Spec.SchedulingPolicy.Gang.MinCount == 3, "the group is for %d", group.Spec.SchedulingPolicy.Gang.MinCount))
		}},
		"two PodGroups of the user's hold the pods back": {
			builtInFails: true,
			before: func(w *ordealWorld) {
				workload := w.userWorkload("mine")
				w.userGroup("a", workload)
				w.userGroup("b", workload)
			},
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(2, 2)))
				w.kill()
				w.settle()
				return first(wrong(len(w.allPods()) == 0, "there are pods"), wrong(batch.HasCondition(w.job("train"), job.GangHeld), "no condition tells"),
					w.told("train", "Warning AmbiguousPodGroup PodGroups a, b are all made from Workload mine"))
			},
		},
		"a PodGroup that the user made is made again under its name": {
			builtInFails: true,
			before:       func(w *ordealWorld) { w.userGroup("my-group", w.userWorkload("mine")) },
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(2, 2)))
				w.settle()
				if err := w.scheduling.SchedulingV1alpha2().PodGroups(namespace).Delete(w.Context(), "my-group", metav1.DeleteOptions{}); err != nil {
					return err.Error()
				}
				w.removePodGroupFinalizer("my-group")
				w.kill()
				w.fail(w.active()[0])
				pass(20 * time.Second)
				w.settle()
				_, group, problem := w.oneGang()
				if problem != "" {
					return problem
				}
				return first(w.inGroup(2, "my-group"), wrong(metav1.IsControlledBy(group, w.job("train")), "the job does not control the new group"))
			},
		},
		"a PodGroup that the user made is used": {
			builtInFails: true,
			before:       func(w *ordealWorld) { w.userGroup("my-group", w.userWorkload("mine")) },
			play: func(w *ordealWorld) string {
				w.create(newJob("train", indexed(2, 2)))
				w.kill()
				w.settle()
				return w.inGroup(2, "my-group")
			},
		},
	}
}
