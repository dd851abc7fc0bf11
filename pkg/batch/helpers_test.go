package batch_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/batch"
)

// noon is when most things happen in these tests.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// makeJob returns a valid Job as a server would hold it just before validation, with edits made before its defaults.
func makeJob(edits ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "busybox"}},
		}}},
	}
	for _, edit := range edits {
		edit(job)
	}
	batch.SetDefaults(job)
	batch.PrepareForCreate(job)
	return job
}

// indexed makes a Job Indexed, with as many completions and as much parallelism.
func indexed(completions int32) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
		job.Spec.Completions, job.Spec.Parallelism = new(completions), new(completions)
	}
}

func suspended(job *batchv1.Job) { job.Spec.Suspend = new(true) }

func condition(conditionType batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.JobCondition {
	return batchv1.JobCondition{Type: conditionType, Status: status}
}

func at(hour int) *metav1.Time {
	return new(metav1.NewTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)))
}

// lines prints errors one a line, as a server names them.
func lines(errs field.ErrorList) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// update makes an old and a new Job from the same edits, as a client that reads, changes and writes back.
func update(t *testing.T, before, change func(*batchv1.Job)) (job, old *batchv1.Job) {
	t.Helper()
	old = makeJob()
	old.ResourceVersion = "5"
	if before != nil {
		before(old)
		batch.SetDefaults(old)
	}
	job = old.DeepCopy()
	change(job)
	batch.SetDefaults(job)
	return job, old
}
