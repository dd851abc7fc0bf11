package scheme

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDefaultsOfPods(t *testing.T) {
	pod := &corev1.Pod{
		Spec:   corev1.PodSpec{DeprecatedServiceAccount: "robot", TerminationGracePeriodSeconds: new(int64(-5))},
		Status: corev1.PodStatus{PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}, {IP: "::2"}}},
	}
	New().Default(pod)
	assert.Equal(t, "robot", pod.Spec.ServiceAccountName)
	assert.Equal(t, int64(1), *pod.Spec.TerminationGracePeriodSeconds)
	assert.Equal(t, []corev1.PodIP{{IP: "10.0.0.1"}}, pod.Status.PodIPs, "the singular wins over a plural that differs")
	assert.Equal(t, corev1.RestartPolicyAlways, pod.Spec.RestartPolicy)

	pod = &corev1.Pod{
		Spec:   corev1.PodSpec{ServiceAccountName: "a", DeprecatedServiceAccount: "b"},
		Status: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}}},
	}
	New().Default(pod)
	assert.Equal(t, "a", pod.Spec.DeprecatedServiceAccount, "the new name wins")
	assert.Equal(t, "10.0.0.2", pod.Status.PodIP)
}

func TestDefaultsOfJobs(t *testing.T) {
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{DeprecatedServiceAccount: "robot"}}}}
	New().Default(job)
	assert.Equal(t, "robot", job.Spec.Template.Spec.ServiceAccountName)
	assert.Equal(t, int32(1), *job.Spec.Completions)
}

func TestDefaultsOfNodes(t *testing.T) {
	capacity := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	node := &corev1.Node{Spec: corev1.NodeSpec{PodCIDR: "10.0.0.0/24"}, Status: corev1.NodeStatus{Capacity: capacity}}
	New().Default(node)
	assert.Equal(t, capacity, node.Status.Allocatable)
	assert.Equal(t, []string{"10.0.0.0/24"}, node.Spec.PodCIDRs)
}

func TestDefaultsOfNamespaces(t *testing.T) {
	named := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelMetadataName: "wrong"}}}
	New().Default(named)
	assert.Equal(t, "n", named.Labels[corev1.LabelMetadataName])
	assert.Equal(t, corev1.NamespaceActive, named.Status.Phase)

	nameless := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}
	New().Default(nameless)
	assert.Empty(t, nameless.Labels)
}

func TestDefaultsOfSecrets(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"a": []byte("old"), "b": []byte("kept")}, StringData: map[string]string{"a": "new"}}
	New().Default(secret)
	assert.Equal(t, map[string][]byte{"a": []byte("new"), "b": []byte("kept")}, secret.Data)
	assert.Nil(t, secret.StringData)
	assert.Equal(t, corev1.SecretTypeOpaque, secret.Type)
}

func TestDefaultsOfPriorityClasses(t *testing.T) {
	class := &schedulingv1.PriorityClass{}
	New().Default(class)
	assert.Equal(t, corev1.PreemptLowerPriority, *class.PreemptionPolicy)
}
