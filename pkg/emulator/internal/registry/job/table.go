package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Status", "Status of the job."),
		resource.Column("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		resource.Column("Duration", "Time required to complete the job."),
		resource.AgeColumn(),
		resource.WideColumn("Containers", "Names of each container in the template."),
		resource.WideColumn("Images", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"]),
	}, func(job *batchv1.Job) resource.Row {
		names, images := resource.Containers(job.Spec.Template.Spec.Containers)
		return resource.Row{Cells: []any{
			job.Name, status(job), completions(job), running(now, job), resource.Since(now, job.CreationTimestamp.Time),
			names, images, metav1.FormatLabelSelector(job.Spec.Selector),
		}}
	})
}

// status says where the Job is, in one word: the first that holds.
func status(job *batchv1.Job) string {
	switch {
	case isTrue(job, batchv1.JobComplete):
		return "Complete"
	case isTrue(job, batchv1.JobFailed):
		return "Failed"
	case job.DeletionTimestamp != nil:
		return "Terminating"
	case isTrue(job, batchv1.JobSuspended):
		return "Suspended"
	case isTrue(job, batchv1.JobFailureTarget):
		return "FailureTarget"
	case isTrue(job, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func isTrue(job *batchv1.Job, condition batchv1.JobConditionType) bool {
	found := batch.Condition(job, condition)
	return found != nil && found.Status == corev1.ConditionTrue
}

// completions says how many pods have succeeded of how many that must; without a number, one is enough.
func completions(job *batchv1.Job) string {
	if job.Spec.Completions != nil {
		return fmt.Sprintf("%d/%d", job.Status.Succeeded, *job.Spec.Completions)
	}
	if parallelism := ptr.Deref(job.Spec.Parallelism, 0); parallelism > 1 {
		return fmt.Sprintf("%d/1 of %d", job.Status.Succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", job.Status.Succeeded)
}

// running says how long the Job has been running or, once complete, how long it took; nothing before it starts.
func running(now clock.PassiveClock, job *batchv1.Job) string {
	start, end := job.Status.StartTime, job.Status.CompletionTime
	switch {
	case start == nil:
		return ""
	case end == nil:
		return duration.HumanDuration(now.Since(start.Time))
	}
	return duration.HumanDuration(end.Sub(start.Time))
}
