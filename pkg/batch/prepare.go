package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// PrepareForCreate does to a Job what an API server does between admission and validation of a create: it generates
// the selector and the labels of the pod template (see [GenerateSelector]), wipes the status and sets generation 1.
// The Job must have its defaults ([SetDefaults]), name and UID: the generated labels are made of them.
// [DropDisabledFields] is a step of its own.
func PrepareForCreate(job *batchv1.Job) {
	GenerateSelector(job)
	job.Status = batchv1.JobStatus{}
	job.Generation = 1
}

// PrepareForUpdate does to a changed Job what an API server does before it validates an update of the main resource:
// the status stays as stored, and the generation grows by one when the spec has changed.
func PrepareForUpdate(job, old *batchv1.Job) {
	old.Status.DeepCopyInto(&job.Status)
	job.Generation = old.Generation
	if !equality.Semantic.DeepEqual(job.Spec, old.Spec) {
		job.Generation = old.Generation + 1
	}
}

// PrepareForStatusUpdate does to a changed Job what an API server does before it validates an update of the status
// subresource: the spec stays as stored. Metadata is kept as sent, labels and annotations included.
func PrepareForStatusUpdate(job, old *batchv1.Job) {
	old.Spec.DeepCopyInto(&job.Spec)
}

// DropDisabledFields removes from job what a server with these gates does not keep: see
// [core.DropDisabledTemplateFields]. Fields that old, the stored Job, has as well stay. old is nil on create.
func DropDisabledFields(job, old *batchv1.Job, gates features.Gates) {
	if old == nil {
		core.DropDisabledTemplateFields(&job.Spec.Template, nil, gates)
		return
	}
	core.DropDisabledTemplateFields(&job.Spec.Template, &old.Spec.Template, gates)
}
