package event

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of events, which vanish when they have not been written for ttl.
func New(c resource.Config, ttl time.Duration) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.CreateOnUpdate = true
	main, err := resource.New(resource.Definition{
		Resource:   corev1.Resource("events"),
		Singular:   "event",
		ShortNames: []string{"ev"},
		New:        func() runtime.Object { return &corev1.Event{} },
		NewList:    func() runtime.Object { return &corev1.EventList{} },
		Strategy:   strategy{base},
		Fields:     selectableFields,
		Table:      newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	seconds := uint64(ttl / time.Second)
	main.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return seconds, nil }
	return map[string]rest.Storage{"events": main}, nil
}
