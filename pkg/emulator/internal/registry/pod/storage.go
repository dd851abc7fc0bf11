package pod

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of pods, pods/status, pods/binding, pods/ephemeralcontainers,
// pods/eviction, pods/log and bindings.
func New(c resource.Config) (map[string]rest.Storage, error) {
	rules := strategy{Strategy: resource.NewStrategy(c.Typer), gates: c.Gates, clock: c.Clock}
	main, err := resource.New(resource.Definition{
		Resource:      corev1.Resource("pods"),
		Singular:      "pod",
		ShortNames:    []string{"po"},
		Categories:    []string{"all"},
		New:           func() runtime.Object { return &corev1.Pod{} },
		NewList:       func() runtime.Object { return &corev1.PodList{} },
		Strategy:      rules,
		Fields:        selectableFields,
		Table:         newTable(c.Clock),
		ReturnDeleted: true,
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	showDeletions(main.Store)
	status := resource.NewSubresource(main, statusStrategy{rules})
	bind := &binding{pods: main, clock: c.Clock}
	return map[string]rest.Storage{
		"pods":         main,
		"pods/status":  status.WithTable(),
		"pods/binding": bind,

		"pods/ephemeralcontainers": resource.NewSubresource(main, ephemeralStrategy{rules}),

		"pods/log":      &podLog{pods: main, source: c.Logs},
		"pods/eviction": &eviction{pods: main, status: status, clock: c.Clock, budgets: budgets{storages: c.Storages, clock: c.Clock}},
		"bindings":      &legacyBinding{bind},
	}, nil
}

func selectableFields(obj runtime.Object) fields.Set {
	pod := obj.(*corev1.Pod)
	podIP := ""
	if len(pod.Status.PodIPs) > 0 {
		podIP = pod.Status.PodIPs[0].IP
	}
	return fields.Set{
		"spec.nodeName":            pod.Spec.NodeName,
		"spec.restartPolicy":       string(pod.Spec.RestartPolicy),
		"spec.schedulerName":       pod.Spec.SchedulerName,
		"spec.serviceAccountName":  pod.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(pod.Spec.HostNetwork),
		"status.phase":             string(pod.Status.Phase),
		"status.podIP":             podIP,
		"status.nominatedNodeName": pod.Status.NominatedNodeName,
	}
}
