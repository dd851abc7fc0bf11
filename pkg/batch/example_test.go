package batch_test

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func ExampleSetDefaults() {
	job := &batchv1.Job{}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	batch.SetDefaults(job)
	fmt.Println("completions:", *job.Spec.Completions)
	fmt.Println("parallelism:", *job.Spec.Parallelism)
	fmt.Println("backoffLimit:", *job.Spec.BackoffLimit)
	fmt.Println("podReplacementPolicy:", *job.Spec.PodReplacementPolicy)
	// Output:
	// completions: 1
	// parallelism: 1
	// backoffLimit: 6
	// podReplacementPolicy: Failed
}

func ExampleValidate() {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "training", UID: "8c1f"},
		Spec: batchv1.JobSpec{
			CompletionMode:   new(batchv1.IndexedCompletion),
			Parallelism:      new(int32(4)),
			MaxFailedIndexes: new(int32(2)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "trainer", Image: "trainer:v1"}},
			}},
		},
	}
	// What a server does to a Job before it validates it.
	batch.SetDefaults(job)
	batch.PrepareForCreate(job)
	for _, err := range batch.Validate(job, batch.Options{}) {
		fmt.Println(err)
	}
	// Output:
	// spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified
	// spec.completions: Required value: when completion mode is Indexed
	// spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"
}

func ExampleParseIndexSet() {
	done, err := batch.ParseIndexSet("0-2,5", 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	done.Add(4)
	fmt.Println(done, done.Len(), done.Has(3))
	fmt.Println(slices.Collect(done.Missing(10)))
	_, err = batch.ParseIndexSet("0-2,10", 10)
	fmt.Println(err)
	// Output:
	// 0-2,4,5 5 false
	// [3 6 7 8 9]
	// reading indexes "0-2,10": too large index: "10"
}

func ExampleComplete() {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "training", ResourceVersion: "1"}}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	steps := []error{
		batch.Start(job, noon),
		batch.Complete(job, noon.Add(time.Hour)),
		batch.Fail(job, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline", noon.Add(2*time.Hour)),
	}
	fmt.Println(steps)
	for _, c := range job.Status.Conditions {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	fmt.Println("took", job.Status.CompletionTime.Sub(job.Status.StartTime.Time))
	// Output:
	// [<nil> <nil> failing job default/training: it succeeds: illegal transition]
	// SuccessCriteriaMet True CompletionsReached
	// Complete True CompletionsReached
	// took 1h0m0s
}

func ExampleMatchFailurePolicy() {
	policy := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
		},
	}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "training-x7k2p"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "trainer", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}},
	}}
	match := batch.MatchFailurePolicy(policy, pod)
	fmt.Println(match.Action, match.Counted)
	fmt.Println(match.Message)
	// Output:
	// FailJob true
	// Container trainer for pod default/training-x7k2p failed with exit code 42 matching FailJob rule at index 0
}
