package differential_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/hack/differential/generate"
	"github.com/musterkube/muster/hack/differential/wire"
)

// subject is a kind and what is done to its objects.
type subject struct {
	kind, operation string
	// question makes a question about an object that was made at random.
	question func(t *testing.T, pair *pair, g *generate.Generator) *wire.Question
}

func subjects() []*subject {
	var all []*subject
	all = append(all, workloads().subjects()...)
	all = append(all, podGroups().subjects()...)
	all = append(all, jobs().subjects()...)
	return append(all, pods().subjects()...)
}

func workloads() *maker[*schedulingv1alpha2.Workload] {
	return &maker[*schedulingv1alpha2.Workload]{
		kind:  "Workload",
		empty: func() *schedulingv1alpha2.Workload { return &schedulingv1alpha2.Workload{} },
		make:  (*generate.Generator).Workload,
		parts: func(w *schedulingv1alpha2.Workload) []any { return []any{&w.ObjectMeta, &w.Spec, &w.Spec, w} },
	}
}

func podGroups() *maker[*schedulingv1alpha2.PodGroup] {
	return &maker[*schedulingv1alpha2.PodGroup]{
		kind:        "PodGroup",
		empty:       func() *schedulingv1alpha2.PodGroup { return &schedulingv1alpha2.PodGroup{} },
		make:        (*generate.Generator).PodGroup,
		parts:       func(p *schedulingv1alpha2.PodGroup) []any { return []any{&p.ObjectMeta, &p.Spec, &p.Spec, p} },
		live:        func(g *generate.Generator, p *schedulingv1alpha2.PodGroup) { p.Status = g.PodGroupStatus(p) },
		statusParts: func(p *schedulingv1alpha2.PodGroup) []any { return []any{&p.Status, &p.Status, &p.Status, p} },
	}
}

func jobs() *maker[*batchv1.Job] {
	return &maker[*batchv1.Job]{
		kind:        "Job",
		empty:       func() *batchv1.Job { return &batchv1.Job{} },
		make:        (*generate.Generator).Job,
		parts:       func(j *batchv1.Job) []any { return []any{&j.ObjectMeta, &j.Spec, &j.Spec, &j.Spec.Template, j} },
		edit:        (*generate.Generator).EditJob,
		live:        func(g *generate.Generator, j *batchv1.Job) { j.Status = g.JobStatus(j) },
		statusParts: func(j *batchv1.Job) []any { return []any{&j.Status, &j.Status, &j.Status, j} },
	}
}

func pods() *maker[*corev1.Pod] {
	return &maker[*corev1.Pod]{
		kind:        "Pod",
		empty:       func() *corev1.Pod { return &corev1.Pod{} },
		make:        (*generate.Generator).Pod,
		parts:       func(p *corev1.Pod) []any { return []any{&p.ObjectMeta, &p.Spec, &p.Spec, &p.Spec, p} },
		edit:        (*generate.Generator).EditPod,
		live:        func(g *generate.Generator, p *corev1.Pod) { p.Status = g.PodStatus(p) },
		statusParts: func(p *corev1.Pod) []any { return []any{&p.Status, &p.Status, &p.Status, p} },
	}
}

// object is what all kinds have in common.
type object interface {
	runtime.Object
	metav1.Object
}

// maker makes objects of one kind.
type maker[T object] struct {
	kind string
	// empty returns an object without anything.
	empty func() T
	// make returns an object to create.
	make func(*generate.Generator) T
	// parts are what mistakes are made in. What is listed twice is twice as likely.
	parts func(T) []any
	// edit changes what may be changed in a stored object. It is nil for kinds in which nothing may.
	edit func(*generate.Generator, T)
	// live gives a stored object a status, and statusParts are what mistakes are made in then. They are nil for kinds
	// that have none.
	live        func(*generate.Generator, T)
	statusParts func(T) []any
}

func (m *maker[T]) subjects() []*subject {
	all := []*subject{{m.kind, "create", m.create}, {m.kind, "update", m.update}}
	if m.live != nil {
		all = append(all, &subject{m.kind, "status", m.updateStatus})
	}
	return all
}

func (m *maker[T]) create(t *testing.T, _ *pair, g *generate.Generator) *wire.Question {
	t.Helper()
	return &wire.Question{Kind: m.kind, Operation: "create", Gates: g.Gates(), Object: encode(t, spoil(g, m.make(g), m.parts))}
}

// update asks about an object that is to take the place of a stored one: the same, some changes and mistakes apart.
func (m *maker[T]) update(t *testing.T, pair *pair, g *generate.Generator) *wire.Question {
	t.Helper()
	old := m.stored(t, pair, g)
	changed := old.DeepCopyObject().(T)
	edited := m.edit != nil && g.Chance(0.6)
	if edited {
		m.edit(g, changed)
		if g.Chance(0.5) {
			m.edit(g, changed)
		}
	}
	if !edited || g.Chance(0.5) {
		changed = spoil(g, changed, m.parts)
	}
	return &wire.Question{Kind: m.kind, Operation: "update", Gates: g.Gates(), Object: encode(t, changed), Old: encode(t, old)}
}

// updateStatus asks about another status of a stored object.
func (m *maker[T]) updateStatus(t *testing.T, pair *pair, g *generate.Generator) *wire.Question {
	t.Helper()
	old := m.stored(t, pair, g)
	changed := old.DeepCopyObject().(T)
	if g.Chance(0.5) {
		m.live(g, changed)
	}
	changed = spoil(g, changed, m.statusParts)
	return &wire.Question{Kind: m.kind, Operation: "status", Gates: g.Gates(), Object: encode(t, changed), Old: encode(t, old)}
}

// stored makes an object that is stored: mostly as Kubernetes would have it, but it may have been let in under rules that
// were laxer.
func (m *maker[T]) stored(t *testing.T, pair *pair, g *generate.Generator) T {
	t.Helper()
	stored := m.make(g)
	line := encode(t, &wire.Question{Kind: m.kind, Operation: "create", Gates: g.Gates(), Object: encode(t, stored)})
	pair.oracle.ask(t, append(line, '\n'))
	if answer := pair.oracle.answer(t); answer.Panic == "" && len(answer.Errors) == 0 {
		stored = m.empty()
		require.NoError(t, json.Unmarshal(answer.Object, stored))
	}
	g.Stored(stored)
	if m.live != nil {
		m.live(g, stored)
	}
	if g.Chance(0.25) {
		stored = spoil(g, stored, m.parts)
		if m.statusParts != nil {
			stored = spoil(g, stored, m.statusParts)
		}
	}
	generate.DropUnserved(stored)
	return stored
}

// spoil makes some mistakes.
func spoil[T object](g *generate.Generator, obj T, parts func(T) []any) T {
	for range g.Mutations() {
		list := parts(obj)
		g.Mutate(list[g.Below(len(list))])
	}
	return obj
}

func encode(t *testing.T, obj any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	return text
}
