package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/kubelet"
)

// jobsBenchmark runs Jobs whose pods end at once and takes the time until every Job is Complete.
type jobsBenchmark struct {
	jobs, pods               int
	completions, parallelism int
	nodes                    int
	syncDelay                time.Duration
	modes                    []string
}

// The kinds of Jobs that are run, one measurement each.
const (
	modePlain   = "plain"   // so many Jobs of so many pods, NonIndexed
	modeGang    = "gang"    // the same, Indexed with parallelism = completions: a Workload and a PodGroup each
	modeIndexed = "indexed" // one Indexed Job with many completions
)

func modes() []string { return []string{modePlain, modeGang, modeIndexed} }

func (b *jobsBenchmark) flags(set *pflag.FlagSet) {
	set.IntVar(&b.jobs, "jobs", 20, "how many Jobs there are in the modes plain and gang")
	set.IntVar(&b.pods, "pods", 100, "how many pods each of them has")
	set.IntVar(&b.completions, "completions", 10_000, "completions of the Job in the mode indexed")
	set.IntVar(&b.parallelism, "parallelism", 500, "parallelism of the Job in the mode indexed")
	set.IntVar(&b.nodes, "nodes", 0, "how many nodes a scheduler and a kubelet run the pods on; with 0 each new pod is reported as succeeded in one write")
	set.DurationVar(&b.syncDelay, "sync-delay", cluster.DefaultJobSyncDelay, "how long the Job controller gathers events of pods; the one of Kubernetes does for 1s")
	set.StringSliceVar(&b.modes, "modes", modes(), "which modes to measure, each on a server of its own")
}

func (b *jobsBenchmark) check() error {
	for _, mode := range b.modes {
		if !slices.Contains(modes(), mode) {
			return fmt.Errorf("--modes: there is no %q, only %s", mode, strings.Join(modes(), ", "))
		}
	}
	if b.jobs < 1 || b.pods < 1 || b.completions < 1 || b.parallelism < 1 || b.nodes < 0 {
		return fmt.Errorf("sizes must be positive")
	}
	return nil
}

func (b *jobsBenchmark) run(ctx context.Context, r *report) error {
	speeds := r.table("Jobs to Complete", "mode", "jobs", "pods", "seconds", "pods/s", "CPU seconds", "CPU ms/pod", "KiB/pod", "peak MiB", "writes/pod")
	for _, mode := range b.modes {
		if err := b.measure(ctx, mode, r, speeds); err != nil {
			return fmt.Errorf("measuring jobs in mode %s: %w", mode, err)
		}
	}
	return nil
}

// measure runs the Jobs of one mode on a server of their own.
func (b *jobsBenchmark) measure(ctx context.Context, mode string, r *report, speeds *table) error {
	m, err := startMachinery(ctx, b.nodesFor(mode), b.syncDelay)
	if err != nil {
		return err
	}
	defer m.stop()
	kube, err := client(m.config("user"))
	if err != nil {
		return err
	}
	if b.nodes == 0 {
		player, err := client(m.config("kubelet"))
		if err != nil {
			return err
		}
		started := make(chan struct{})
		// As long as the measurement, like all of the machinery.
		playing, stop := context.WithCancel(ctx)
		defer stop()
		m.run(playing, func(ctx context.Context) error { return play(ctx, player, started) })
		<-started
	}
	jobs := b.jobsFor(mode)
	meter := startMeter()
	if err := runJobs(ctx, kube, jobs, m.failed); err != nil {
		meter.stop()
		return err
	}
	c := meter.stop()

	pods := 0
	for _, job := range jobs {
		pods += int(*job.Spec.Completions)
	}
	kinds, count := m.requests.writes()
	total := 0
	details := r.table("Writes, "+mode, "client", "verb", "resource", "count", "a pod")
	for _, kind := range kinds {
		total += count[kind]
		details.add(text(kind.client), text(kind.verb), text(kind.resource), number(count[kind], 0), number(float64(count[kind])/float64(pods), 3))
	}
	speeds.add(text(mode), number(len(jobs), 0), number(pods, 0), number(c.wall.Seconds(), 2), number(rate(pods, c.wall), 0),
		number(c.cpu.Seconds(), 2), number(per(c.cpu, pods, time.Millisecond), 2),
		number(float64(c.allocated)/float64(pods)/1024, 0), number(c.peak, 0), number(float64(total)/float64(pods), 2))
	return nil
}

// jobsFor makes the Jobs of a mode.
func (b *jobsBenchmark) jobsFor(mode string) []*batchv1.Job {
	if mode == modeIndexed {
		return []*batchv1.Job{newJob("indexed", batchv1.IndexedCompletion, b.completions, b.parallelism)}
	}
	completion := batchv1.NonIndexedCompletion
	if mode == modeGang {
		completion = batchv1.IndexedCompletion
	}
	jobs := make([]*batchv1.Job, b.jobs)
	for i := range jobs {
		jobs[i] = newJob(fmt.Sprintf("%s-%d", mode, i), completion, b.pods, b.pods)
	}
	return jobs
}

func newJob(name string, mode batchv1.CompletionMode, completions, parallelism int) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: batchv1.JobSpec{
			CompletionMode: &mode,
			Completions:    new(int32(completions)),
			Parallelism:    new(int32(parallelism)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "main:v1"}},
			}},
		},
	}
}

// nodesFor makes nodes that hold all pods of a mode at a time, so that no gang waits for another.
func (b *jobsBenchmark) nodesFor(mode string) []kubelet.Node {
	pods := b.jobs * b.pods
	if mode == modeIndexed {
		pods = b.parallelism
	}
	nodes := make([]kubelet.Node, b.nodes)
	for i := range nodes {
		nodes[i] = kubelet.Node{
			Name:     fmt.Sprintf("node-%d", i),
			Capacity: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(pods), resource.DecimalSI)},
		}
	}
	return nodes
}

// runJobs creates Jobs and returns when all of them are Complete.
func runJobs(ctx context.Context, kube kubernetes.Interface, jobs []*batchv1.Job, failed <-chan error) error {
	changes, err := kube.BatchV1().Jobs(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watching jobs: %w", err)
	}
	defer changes.Stop()
	for _, job := range jobs {
		if _, err := kube.BatchV1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating job %s: %w", job.Name, err)
		}
	}
	for complete := map[string]bool{}; len(complete) < len(jobs); {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d jobs are complete: %w", len(complete), len(jobs), context.Cause(ctx))
		case err := <-failed:
			return err
		case event, open := <-changes.ResultChan():
			if !open {
				return fmt.Errorf("watching jobs: the watch has ended")
			}
			job, ok := event.Object.(*batchv1.Job)
			if !ok {
				continue
			}
			switch condition, finished := batch.Finished(job); {
			case finished && condition == batchv1.JobComplete:
				complete[job.Name] = true
			case finished:
				return fmt.Errorf("job %s is %s", job.Name, condition)
			}
		}
	}
	return nil
}
