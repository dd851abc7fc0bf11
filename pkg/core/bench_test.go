package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
)

func BenchmarkValidatePod(b *testing.B) {
	pod := makePod()
	b.ReportAllocs()
	for b.Loop() {
		if errs := core.ValidatePod(pod, core.Options{}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkSetPodDefaults(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/a/b:v1"}}}}
		core.SetPodDefaults(pod)
	}
}
