package job

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// jobKind is the kind of the owner of the pods.
var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

const (
	// indexVariable is the environment variable that tells a container its completion index.
	indexVariable = "JOB_COMPLETION_INDEX"
	// maxPrefix is the longest generateName that leaves room for the five characters that an API server appends.
	maxPrefix = 58
)

// errNoLabels is returned for a Job whose pod template has no labels: its pods could not be told from others.
var errNoLabels = errors.New("unable to create pods, no labels")

// podTemplate returns the pod that all new pods of a sync are copies of: the template's labels, annotations and
// finalizers, the tracking finalizer, the Job as only owner, and the group. Owners that the template names are dropped.
func podTemplate(job *batchv1.Job, podGroup string) (*corev1.Pod, error) {
	template := job.Spec.Template.DeepCopy()
	if len(template.Labels) == 0 {
		return nil, errNoLabels
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       job.Namespace,
			GenerateName:    podPrefix(job.Name),
			Labels:          template.Labels,
			Annotations:     template.Annotations,
			Finalizers:      template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, jobKind)},
		},
		Spec: template.Spec,
	}
	if !hasFinalizer(pod) {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if podGroup != "" {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &podGroup}
	}
	if isIndexed(job) {
		addIndexVariables(&pod.Spec)
	}
	return pod, nil
}

// fromTemplate returns the pod to make for what was planned.
func fromTemplate(template *corev1.Pod, job *batchv1.Job, planned newPod) *corev1.Pod {
	pod := template.DeepCopy()
	if planned.index < 0 {
		return pod
	}
	index := strconv.Itoa(planned.index)
	pod.GenerateName = indexedPrefix(job.Name, index)
	pod.Spec.Hostname = job.Name + "-" + index
	pod.Labels = with(pod.Labels, batchv1.JobCompletionIndexAnnotation, index)
	pod.Annotations = with(pod.Annotations, batchv1.JobCompletionIndexAnnotation, index)
	if planned.perIndex {
		pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(planned.counted))
		if planned.ignored > 0 {
			pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(planned.ignored))
		}
	}
	return pod
}

func with(values map[string]string, key, value string) map[string]string {
	added := maps.Clone(values)
	if added == nil {
		added = map[string]string{}
	}
	added[key] = value
	return added
}

// podPrefix returns the generateName of a pod without index. The dash goes where it would make the name too long.
func podPrefix(jobName string) string {
	if len(jobName)+1 > validation.DNS1123SubdomainMaxLength {
		return jobName
	}
	return jobName + "-"
}

// indexedPrefix returns the generateName of a pod with an index, which must show even where the Job's name is long.
func indexedPrefix(jobName, index string) string {
	suffix := "-" + index + "-"
	return jobName[:min(len(jobName), maxPrefix-len(suffix))] + suffix
}

// addIndexVariables gives each container that does not define it the variable with its index, read from a label.
func addIndexVariables(spec *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			container := &containers[i]
			if slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
				continue
			}
			container.Env = append(container.Env, corev1.EnvVar{
				Name: indexVariable,
				ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
					FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation),
				}},
			})
		}
	}
}
