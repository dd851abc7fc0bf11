package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	applyv1alpha2 "github.com/musterkube/muster/generated/applyconfiguration/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
)

// kind is a kind of object with the requests that are measured, each by the name of the object.
type kind struct {
	name                              string
	create, get, patch, apply, delete func(ctx context.Context, name string) error
	list                              func(ctx context.Context, limit int64) error
}

// labelPatch is a merge patch, and applied what a field manager applies: each sets a label.
var labelPatch = []byte(`{"metadata":{"labels":{"patched":"yes"}}}`)

func applied() map[string]string { return map[string]string{"applied": "yes"} }

func applyOptions() metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: "bench", Force: true}
}

// podKind are pods, by a client that speaks protobuf.
func podKind(cfg *rest.Config) (*kind, error) {
	kube, err := client(cfg)
	if err != nil {
		return nil, err
	}
	pods := kube.CoreV1().Pods(metav1.NamespaceDefault)
	return &kind{
		name: "pod",
		create: func(ctx context.Context, name string) error {
			_, err := pods.Create(ctx, newPod(name), metav1.CreateOptions{})
			return err
		},
		get: func(ctx context.Context, name string) error {
			_, err := pods.Get(ctx, name, metav1.GetOptions{})
			return err
		},
		patch: func(ctx context.Context, name string) error {
			_, err := pods.Patch(ctx, name, types.MergePatchType, labelPatch, metav1.PatchOptions{})
			return err
		},
		apply: func(ctx context.Context, name string) error {
			_, err := pods.Apply(ctx, applycorev1.Pod(name, metav1.NamespaceDefault).WithLabels(applied()), applyOptions())
			return err
		},
		delete: func(ctx context.Context, name string) error {
			return pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		},
		list: func(ctx context.Context, limit int64) error {
			_, err := pods.List(ctx, metav1.ListOptions{Limit: limit})
			return err
		},
	}, nil
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:v1"}}},
	}
}

// workloadKind are Workloads, by a client that speaks JSON.
func workloadKind(cfg *rest.Config) (*kind, error) {
	scheduling, err := versioned.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	workloads := scheduling.SchedulingV1alpha2().Workloads(metav1.NamespaceDefault)
	return &kind{
		name: "workload",
		create: func(ctx context.Context, name string) error {
			_, err := workloads.Create(ctx, newWorkload(name), metav1.CreateOptions{})
			return err
		},
		get: func(ctx context.Context, name string) error {
			_, err := workloads.Get(ctx, name, metav1.GetOptions{})
			return err
		},
		patch: func(ctx context.Context, name string) error {
			_, err := workloads.Patch(ctx, name, types.MergePatchType, labelPatch, metav1.PatchOptions{})
			return err
		},
		apply: func(ctx context.Context, name string) error {
			_, err := workloads.Apply(ctx, applyv1alpha2.Workload(name, metav1.NamespaceDefault).WithLabels(applied()), applyOptions())
			return err
		},
		delete: func(ctx context.Context, name string) error {
			return workloads.Delete(ctx, name, metav1.DeleteOptions{})
		},
		list: func(ctx context.Context, limit int64) error {
			_, err := workloads.List(ctx, metav1.ListOptions{Limit: limit})
			return err
		},
	}, nil
}

func newWorkload(name string) *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1alpha2.WorkloadSpec{PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
			Name:             "workers",
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4}},
		}}},
	}
}
