package clustertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/kubelet"
)

// newJob is the Job default/work, of one pod, that may fail so often.
func newJob(backoffLimit int32) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "work", Namespace: metav1.NamespaceDefault},
		Spec: batchv1.JobSpec{
			BackoffLimit: &backoffLimit,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
			}},
		},
	}
}

func createJob(t *testing.T, c *clustertest.Cluster, job *batchv1.Job) {
	t.Helper()
	_, err := c.Kube.BatchV1().Jobs(job.Namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}

// TestTable is how to write a table: each case has a bubble, and a cluster, of its own.
func TestTable(t *testing.T) {
	for name, tc := range map[string]struct {
		failures     int
		backoffLimit int32
		wantType     batchv1.JobConditionType
		wantAfter    time.Duration
	}{
		"a job that ends well takes as long as its pod":      {backoffLimit: 6, wantType: batchv1.JobComplete, wantAfter: time.Hour},
		"a failure is answered after ten seconds":            {failures: 1, backoffLimit: 6, wantType: batchv1.JobComplete, wantAfter: 2*time.Hour + 10*time.Second},
		"a second one after twenty":                          {failures: 2, backoffLimit: 6, wantType: batchv1.JobComplete, wantAfter: 3*time.Hour + 30*time.Second},
		"one failure more than the limit is the job's own":   {failures: 9, backoffLimit: 1, wantType: batchv1.JobFailed, wantAfter: 2*time.Hour + 10*time.Second},
		"with no failure allowed the first one is the job's": {failures: 9, backoffLimit: 0, wantType: batchv1.JobFailed, wantAfter: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := cluster.Options{Nodes: 1, Script: kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
				outcome := kubelet.Outcome{Duration: time.Hour}
				if a.Index < tc.failures {
					outcome.ExitCode = 1
				}
				return outcome
			})}
			clustertest.Run(t, options, func(t *testing.T, c *clustertest.Cluster) {
				began := c.Now()
				createJob(t, c, newJob(tc.backoffLimit))
				job := c.UntilFinished("work", 24*time.Hour)
				assert.Equal(t, tc.wantAfter, c.Now().Sub(began))
				assert.True(t, batch.HasCondition(job, tc.wantType))
			})
		})
	}
}
