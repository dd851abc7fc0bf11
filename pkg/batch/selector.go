package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The labels of a Job's pods from before Kubernetes gave its own labels a prefix. They are still written.
const (
	// LegacyJobNameLabel is the old name of the label [batchv1.JobNameLabel].
	LegacyJobNameLabel = "job-name"
	// LegacyControllerUIDLabel is the old name of the label [batchv1.ControllerUidLabel].
	LegacyControllerUIDLabel = "controller-uid"
)

// GenerateSelector makes the selector of a Job that does not ask for a manual one: the pod template is labelled with
// the Job's name and UID, and the selector asks for the UID. What the user set stays, for [Validate] to refuse where
// it conflicts.
func GenerateSelector(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	template := &job.Spec.Template
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	for _, label := range generatedLabels(job, true) {
		setIfAbsent(template.Labels, label.key, label.value)
	}
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	setIfAbsent(job.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(job.UID))
}

type generatedLabel struct{ key, value string }

// generatedLabels are the labels that tie pods to their Job, in the order in which an API server checks them. Jobs
// from before Kubernetes 1.27 lack the prefixed ones.
func generatedLabels(job *batchv1.Job, prefixed bool) []generatedLabel {
	labels := []generatedLabel{
		{LegacyControllerUIDLabel, string(job.UID)},
		{LegacyJobNameLabel, job.Name},
	}
	if prefixed {
		labels = append(labels,
			generatedLabel{batchv1.ControllerUidLabel, string(job.UID)},
			generatedLabel{batchv1.JobNameLabel, job.Name})
	}
	return labels
}

func setIfAbsent(labels map[string]string, key, value string) {
	if _, found := labels[key]; !found {
		labels[key] = value
	}
}
