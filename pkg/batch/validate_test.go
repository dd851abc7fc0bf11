package batch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func exitCodes(action batchv1.PodFailurePolicyAction, values ...int32) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values},
		}}}
	}
}

func successRule(rule batchv1.SuccessPolicyRule) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		indexed(5)(job)
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule}}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given func(*batchv1.Job)
		want  string
	}{
		"a plain Job is fine":                      {given: func(*batchv1.Job) {}},
		"an Indexed Job is fine":                   {given: indexed(5)},
		"completions may be zero":                  {given: indexed(0)},
		"a managed Job names its controller":       {given: func(job *batchv1.Job) { job.Spec.ManagedBy = new("example.com/controller") }},
		"codes below zero are codes":               {given: exitCodes(batchv1.PodFailurePolicyActionFailJob, -1, 3)},
		"an empty list of succeeded indexes is ok": {given: successRule(batchv1.SuccessPolicyRule{SucceededIndexes: new("")})},
		"counters are not negative": {
			given: func(job *batchv1.Job) { job.Spec.Parallelism, job.Spec.BackoffLimit = new(int32(-1)), new(int32(-2)) },
			want: "spec.parallelism: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.backoffLimit: Invalid value: -2: must be greater than or equal to 0",
		},
		"pods must be able to end": {
			given: func(job *batchv1.Job) { job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways },
			want:  `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
		},
		"an Indexed Job needs completions": {
			given: func(job *batchv1.Job) {
				indexed(1)(job)
				job.Spec.Completions = nil
			},
			want: "spec.completions: Required value: when completion mode is Indexed",
		},
		"the pod of the last index needs a hostname": {
			given: func(job *batchv1.Job) {
				indexed(100)(job)
				job.Name = strings.Repeat("a", 61)
			},
			want: `metadata.name: Invalid value: "` + strings.Repeat("a", 61) + `": will not able to create pod with invalid DNS label: ` +
				strings.Repeat("a", 61) + "-99",
		},
		"a limit per index needs indexes": {
			given: func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = new(int32(1)) },
			want:  "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
		},
		"failed indexes are counted against a limit per index": {
			given: func(job *batchv1.Job) {
				indexed(5)(job)
				job.Spec.MaxFailedIndexes = new(int32(6))
			},
			want: "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified\n" +
				"spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions",
		},
		"lists of indexes stay at a size that can be stored": {
			given: func(job *batchv1.Job) {
				indexed(100_001)(job)
				job.Spec.Parallelism, job.Spec.BackoffLimitPerIndex = new(int32(10_001)), new(int32(1))
			},
			want: "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000\n" +
				"spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
		},
		"managedBy is a path under a domain": {
			given: func(job *batchv1.Job) { job.Spec.ManagedBy = new(strings.Repeat("a", 63) + ".b/c") },
			want:  "spec.managedBy: Too long: may not be more than 63 bytes",
		},
		"a failure policy does not go with containers that restart": {
			given: func(job *batchv1.Job) {
				exitCodes(batchv1.PodFailurePolicyActionFailJob, 1)(job)
				job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			},
			want: `spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`,
		},
		"an index fails only where failures are limited per index": {
			given: exitCodes(batchv1.PodFailurePolicyActionFailIndex, 1),
			want:  `spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
		},
		"success is no failure, and codes come in order and once": {
			given: exitCodes(batchv1.PodFailurePolicyActionCount, 1, 0, 1),
			want: "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator\n" +
				"spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1\n" +
				"spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [1,0,1]: must be ordered",
		},
		"a success policy needs indexes": {
			given: func(job *batchv1.Job) { job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{} },
			want:  "spec.successPolicy: Invalid value: {\"rules\":null}: requires indexed completion mode",
		},
		"a success rule says what it wants": {
			given: successRule(batchv1.SuccessPolicyRule{}),
			want:  "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified",
		},
		"a count is within the listed indexes": {
			given: successRule(batchv1.SuccessPolicyRule{SucceededIndexes: new("0-2"), SucceededCount: new(int32(4))}),
			want: "spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 " +
				"(the number of indexes in the specified succeededIndexes field)",
		},
		"a success policy without completions is refused for the completions, and does not crash": {
			given: func(job *batchv1.Job) {
				successRule(batchv1.SuccessPolicyRule{SucceededIndexes: new("0"), SucceededCount: new(int32(1))})(job)
				job.Spec.Completions = nil
			},
			want: "spec.completions: Required value: when completion mode is Indexed",
		},
		"a label that the user set cannot stand in for a generated one": {
			given: func(job *batchv1.Job) { job.Spec.Template.Labels = map[string]string{"job-name": "other"} },
			want: `spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u",` +
				`"batch.kubernetes.io/job-name":"j","controller-uid":"u","job-name":"other"}: must be 'j'`,
		},
		"the container that a rule names must be there": {
			given: func(job *batchv1.Job) {
				exitCodes(batchv1.PodFailurePolicyActionCount, 1)(job)
				job.Spec.PodFailurePolicy.Rules[0].OnExitCodes.ContainerName = new("nobody")
			},
			want: `spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "nobody": ` +
				"must be one of the container or initContainer names in the pod template",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := makeJob(tc.given)
			before := job.DeepCopy()
			require.Equal(t, tc.want, lines(batch.Validate(job, batch.Options{})))
			require.Empty(t, cmp.Diff(before, job), "validation must not change the Job (-want +got)")
		})
	}
}
