package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/features"
)

// measured returns options with a registry, and that registry.
func measured() (job.Options, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	// Without gangs, whose Jobs cannot change their size.
	return job.Options{Metrics: registry, Gates: features.KubernetesDefaults()}, registry
}

// series returns the values of counters by name and labels, as a server of metrics would print them.
func series(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			value := metric.GetCounter().GetValue()
			if histogram := metric.GetHistogram(); histogram != nil {
				value = float64(histogram.GetSampleCount())
			}
			values[strings.TrimPrefix(family.GetName(), "job_controller_")+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return values
}

// syncSeries takes the counts of syncs out of values: how many it takes is no promise. Each must have been timed.
func syncSeries(t *testing.T, values map[string]float64) map[string]float64 {
	t.Helper()
	syncs := map[string]float64{}
	for name, value := range values {
		if labels, ok := strings.CutPrefix(name, "job_syncs_total"); ok {
			syncs[labels] = value
			delete(values, name)
			assert.Equal(t, value, values["job_sync_duration_seconds"+labels], "syncs that were timed")
			delete(values, "job_sync_duration_seconds"+labels)
		}
		if strings.HasPrefix(name, "stale_sync_skips_total") {
			delete(values, name)
		}
	}
	return syncs
}

func TestMetricsTellTheLifeOfAJob(t *testing.T) {
	tests := map[string]struct {
		spec func(*batchv1.JobSpec)
		play func(*world)
		want map[string]float64
		// syncs are the labels of syncs that there must have been.
		syncs []string
	}{
		"pods that succeed and fail": {
			spec: both(size(2, 2), func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.TerminatingOrFailed) }),
			play: func(w *world) {
				w.fail(w.awaitActive(2)[0])
				pass(time.Minute)
				w.succeed(w.awaitActive(2)...)
			},
			want: map[string]float64{
				"job_pods_creation_total{reason=new,status=succeeded}":                                       2,
				"job_pods_creation_total{reason=recreate_terminating_or_failed,status=succeeded}":            1,
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":                          1,
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}":                       2,
				"jobs_finished_total{completion_mode=NonIndexed,reason=CompletionsReached,result=succeeded}": 1,
				"terminated_pods_tracking_finalizer_total{event=add}":                                        3,
				"terminated_pods_tracking_finalizer_total{event=delete}":                                     3,
			},
			syncs: []string{"{action=pods_created,completion_mode=NonIndexed,result=success}", "{action=tracking,completion_mode=NonIndexed,result=success}"},
		},
		"indexes with a limit each": {
			spec: both(indexed(3, 3), func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(0)) }),
			play: func(w *world) {
				pods := w.awaitActive(3)
				w.fail(pods[1])
				pass(time.Minute)
				w.succeed(pods[0], pods[2])
			},
			want: map[string]float64{
				"job_finished_indexes_total{backoffLimit=perIndex,status=failed}":                 1,
				"job_finished_indexes_total{backoffLimit=perIndex,status=succeeded}":              2,
				"job_pods_creation_total{reason=new,status=succeeded}":                            3,
				"job_pods_finished_total{completion_mode=Indexed,result=failed}":                  1,
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}":               2,
				"jobs_finished_total{completion_mode=Indexed,reason=FailedIndexes,result=failed}": 1,
				"terminated_pods_tracking_finalizer_total{event=add}":                             3,
				"terminated_pods_tracking_finalizer_total{event=delete}":                          3,
			},
			syncs: []string{"{action=pods_created,completion_mode=Indexed,result=success}"},
		},
		"indexes that are taken away again": {
			spec: indexed(2, 2),
			play: func(w *world) {
				w.succeed(w.awaitActive(2)[1])
				pass(time.Minute)
				w.patch("j", `{"spec":{"completions":1,"parallelism":1}}`)
				pass(time.Minute)
				w.succeed(w.awaitActive(1)...)
			},
			want: map[string]float64{
				"job_finished_indexes_total{backoffLimit=global,status=succeeded}":                        2,
				"job_pods_creation_total{reason=new,status=succeeded}":                                    2,
				"job_pods_finished_total{completion_mode=Indexed,result=failed}":                          0,
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}":                       2,
				"jobs_finished_total{completion_mode=Indexed,reason=CompletionsReached,result=succeeded}": 1,
				"terminated_pods_tracking_finalizer_total{event=add}":                                     2,
				"terminated_pods_tracking_finalizer_total{event=delete}":                                  2,
			},
		},
		"failures that rules match": {
			spec: both(size(3, 3), func(s *batchv1.JobSpec) {
				rule := func(action batchv1.PodFailurePolicyAction, code int32) batchv1.PodFailurePolicyRule {
					return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
						Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
					}}
				}
				s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
					rule(batchv1.PodFailurePolicyActionIgnore, 3), rule(batchv1.PodFailurePolicyActionCount, 4), rule(batchv1.PodFailurePolicyActionFailJob, 5),
				}}
			}),
			play: func(w *world) {
				pods := w.awaitActive(3)
				w.set(pods[0], corev1.PodFailed, 3)
				w.set(pods[1], corev1.PodFailed, 4)
				pass(time.Minute)
				w.set(w.awaitActive(3)[0], corev1.PodFailed, 5)
				pass(time.Minute)
				w.remove(metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, w.allPods()...)
			},
			want: map[string]float64{
				"job_pods_creation_total{reason=new,status=succeeded}":                                  3,
				"job_pods_creation_total{reason=recreate_failed,status=succeeded}":                      2,
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":                     4,
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}":                  0,
				"jobs_finished_total{completion_mode=NonIndexed,reason=PodFailurePolicy,result=failed}": 1,
				"pod_failures_handled_by_failure_policy_total{action=Count}":                            1,
				"pod_failures_handled_by_failure_policy_total{action=FailJob}":                          1,
				"pod_failures_handled_by_failure_policy_total{action=Ignore}":                           1,
				"terminated_pods_tracking_finalizer_total{event=add}":                                   3,
				"terminated_pods_tracking_finalizer_total{event=delete}":                                3,
			},
			syncs: []string{"{action=reconciling,completion_mode=NonIndexed,result=success}"},
		},
		"a suspension": {
			spec: size(2, 2),
			play: func(w *world) {
				w.awaitActive(2)
				pass(time.Minute)
				w.patch("j", `{"spec":{"suspend":true}}`)
			},
			want: map[string]float64{
				"job_pods_creation_total{reason=new,status=succeeded}":                 2,
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":    0,
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 0,
			},
			syncs: []string{"{action=pods_deleted,completion_mode=NonIndexed,result=success}"},
		},
		"pods that nobody may create": {
			spec: both(size(4, 4), func(s *batchv1.JobSpec) { s.Template.Spec.PriorityClassName = "no-such-class" }),
			play: func(*world) {},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":    0,
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 0,
			},
			syncs: []string{"{action=pods_created,completion_mode=NonIndexed,result=error}"},
		},
		"a Job of another's": {
			spec: func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/queue") },
			play: func(*world) {},
			want: map[string]float64{"jobs_by_external_controller_total{controller_name=example.com/queue}": 1},
		},
		"a Job that names the built-in controller": {
			spec: both(size(0, 1), func(s *batchv1.JobSpec) { s.ManagedBy = new(batchv1.JobControllerName) }),
			play: func(*world) {},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":    0,
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 0,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				w := newWorld(t)
				options, registry := measured()
				w.run(options)
				w.create(newJob("j", tc.spec))
				pass(2 * time.Second)
				tc.play(w)
				pass(5 * time.Second)

				got := series(t, registry)
				syncs := syncSeries(t, got)
				for _, labels := range tc.syncs {
					assert.Contains(t, syncs, labels)
				}
				if attempts := "job_pods_creation_total{reason=new,status=failed}"; strings.Contains(name, "nobody") {
					// It is tried again and again.
					assert.Positive(t, got[attempts])
					delete(got, attempts)
				}
				assert.Equal(t, tc.want, got)
			})
		})
	}
}

func TestMetricsOfAnExternalControllerCountTheJobsOfTheBuiltInOne(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		options, registry := measured()
		options.ManagedBy = "example.com/queue"
		w.run(options)
		w.create(newJob("of-the-built-in", nil))
		w.create(newJob("of-a-third", func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/third") }))
		w.create(newJob("mine", func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/queue") }))
		pass(5 * time.Second)
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP job_controller_jobs_by_external_controller_total Jobs that came up and belong to another controller.
# TYPE job_controller_jobs_by_external_controller_total counter
job_controller_jobs_by_external_controller_total{controller_name="example.com/third"} 1
job_controller_jobs_by_external_controller_total{controller_name="kubernetes.io/job-controller"} 1
`), "job_controller_jobs_by_external_controller_total"))
	})
}

func TestSyncsAreTimedInTheBucketsOfKubernetes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		options, registry := measured()
		w.run(options)
		w.create(newJob("j", nil))
		pass(5 * time.Second)
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, family := range families {
			if family.GetName() != "job_controller_job_sync_duration_seconds" {
				continue
			}
			buckets := family.GetMetric()[0].GetHistogram().GetBucket()
			require.Len(t, buckets, 15)
			assert.InDelta(t, 0.004, buckets[0].GetUpperBound(), 1e-9)
			assert.InDelta(t, 65.536, buckets[14].GetUpperBound(), 1e-9)
			return
		}
		require.Fail(t, "there are no times of syncs")
	})
}

func TestWorkQueuesAreCountedIfAskedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		options, registry := measured()
		options.QueueMetrics = true
		w.run(options)
		w.create(newJob("j", nil))
		w.succeed(w.awaitActive(1)...)
		pass(5 * time.Second)
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP workqueue_depth Items that wait in the work queue.
# TYPE workqueue_depth gauge
workqueue_depth{name="job"} 0
workqueue_depth{name="job_orphan_pod"} 0
`), "workqueue_depth"))
		assert.Positive(t, series(t, registry)["workqueue_adds_total{name=job}"])
		assert.Positive(t, series(t, registry)["workqueue_queue_duration_seconds{name=job}"])
	})
}

func TestEachControllerHasMetricsOfItsOwn(t *testing.T) {
	w := newWorld(t)
	options, registry := measured()
	_, err := job.New(w.config, options)
	require.NoError(t, err)

	_, err = job.New(w.config, options)
	require.ErrorContains(t, err, "making a job controller: registering metrics: a registry holds those of one job controller")
	var already prometheus.AlreadyRegisteredError
	require.ErrorAs(t, err, &already)

	other, _ := measured()
	_, err = job.New(w.config, other)
	require.NoError(t, err, "another registry")
	labelled := job.Options{Metrics: prometheus.WrapRegistererWith(prometheus.Labels{"controller": "second"}, prometheus.NewRegistry())}
	_, err = job.New(w.config, labelled)
	require.NoError(t, err, "a registry that adds a label")

	_, err = job.New(w.config, job.Options{Metrics: registry, Workers: -1})
	require.ErrorContains(t, err, "Options.Workers", "options are checked first")
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
