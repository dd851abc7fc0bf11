package core_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

func ExampleSetPodDefaults() {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}}
	core.SetPodDefaults(pod)
	fmt.Println(pod.Spec.RestartPolicy, pod.Spec.DNSPolicy, *pod.Spec.TerminationGracePeriodSeconds)
	fmt.Println(pod.Spec.Containers[0].ImagePullPolicy)
	// Output:
	// Always ClusterFirst 30
	// Always
}

func ExampleValidatePod() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Image: "busybox",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"memory": resource.MustParse("2Gi")},
					Limits:   corev1.ResourceList{"memory": resource.MustParse("1Gi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
			}},
		},
	}
	// What a server does to a pod before it validates it.
	core.SetPodDefaults(pod)
	core.PreparePodForCreate(pod, features.Gates{}, noon)
	for _, err := range core.ValidatePod(pod, core.Options{}) {
		fmt.Println(err)
	}
	// Output:
	// spec.containers[0].volumeMounts[0].name: Not found: "data"
	// spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi
}

func ExampleQOSClass() {
	half := corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: half, Limits: half},
	}}}}
	fmt.Println(core.QOSClass(pod))
	// Output:
	// Guaranteed
}
