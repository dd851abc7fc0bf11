package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNewPodIsTheTemplateWithWhatTheJobAdds(t *testing.T) {
	job := makeJob()
	template := &job.Spec.Template
	template.Annotations = map[string]string{"note": "kept"}
	template.Finalizers = []string{"example.com/own"}
	template.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "dropped", UID: "u"}}

	made, err := podTemplate(job.Job, "group")
	require.NoError(t, err)
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", GenerateName: "j-",
			Labels:      map[string]string{batchv1.ControllerUidLabel: "job-uid"},
			Annotations: map[string]string{"note": "kept"},
			Finalizers:  []string{"example.com/own", "batch.kubernetes.io/job-tracking"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "job-uid", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:   corev1.RestartPolicyNever,
			Containers:      []corev1.Container{{Name: "c", Image: "busybox"}},
			SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: new("group")},
		},
	}
	assert.Empty(t, cmp.Diff(want, fromTemplate(made, job.Job, newPod{index: -1})), "(-want +got)")
}

func TestNewPodOfAnIndexShowsIt(t *testing.T) {
	job := makeJob().indexed()
	job.Spec.Template.Spec.Hostname = "overwritten"
	job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "i", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "own"}}}}
	template, err := podTemplate(job.Job, "")
	require.NoError(t, err)
	pod := fromTemplate(template, job.Job, newPod{index: 7})

	assert.Equal(t, "j-7-", pod.GenerateName)
	assert.Equal(t, "j-7", pod.Spec.Hostname)
	assert.Equal(t, "7", pod.Labels["batch.kubernetes.io/job-completion-index"])
	assert.Equal(t, map[string]string{"batch.kubernetes.io/job-completion-index": "7"}, pod.Annotations)
	assert.Nil(t, pod.Spec.SchedulingGroup)
	assert.Equal(t, []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "own"}}, pod.Spec.InitContainers[0].Env, "what the user defines stays")
	assert.Equal(t, []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
	}}}, pod.Spec.Containers[0].Env)
	assert.Empty(t, job.Spec.Template.Spec.Containers[0].Env, "the job was written to")
}

func TestNewPodCountsTheFailuresOfItsIndex(t *testing.T) {
	job := makeJob().perIndex(3)
	template, err := podTemplate(job.Job, "")
	require.NoError(t, err)
	const counted, ignored = "batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count"

	first := fromTemplate(template, job.Job, newPod{index: 0, perIndex: true})
	assert.Equal(t, "0", first.Annotations[counted])
	assert.NotContains(t, first.Annotations, ignored)
	next := fromTemplate(template, job.Job, newPod{index: 0, perIndex: true, counted: 2, ignored: 1})
	assert.Equal(t, "2", next.Annotations[counted])
	assert.Equal(t, "1", next.Annotations[ignored])
}

func TestPodNamesLeaveRoomForWhatTheServerAppends(t *testing.T) {
	assert.Equal(t, strings.Repeat("a", 54)+"-12-", indexedPrefix(strings.Repeat("a", 60), "12"))
	assert.Equal(t, strings.Repeat("a", 252)+"-", podPrefix(strings.Repeat("a", 252)))
	assert.Equal(t, strings.Repeat("a", 253), podPrefix(strings.Repeat("a", 253)), "no room for the dash")
}

func TestPodsWithoutLabelsAreNotMade(t *testing.T) {
	job := makeJob()
	job.Spec.Template.Labels = nil
	_, err := podTemplate(job.Job, "")
	assert.ErrorIs(t, err, errNoLabels)
}
