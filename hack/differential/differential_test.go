package differential_test

import (
	"encoding/json"
	"flag"
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

var (
	objects    = flag.Int("objects", 500, "how many objects of each kind and operation to compare")
	seed       = flag.Uint64("seed", 1, "which objects: others for each seed")
	only       = flag.Int("only", -1, "compare the object of this number alone")
	show       = flag.Int("show", 5, "how many differences of each kind and operation to print in full")
	oraclePath = flag.String("oracle", "", "the program oracle, built already (default: build it)")
	judgePath  = flag.String("judge", "", "the program judge, built already (default: build it)")
)

// TestSameAnswersAsKubernetes is what this module is for.
func TestSameAnswersAsKubernetes(t *testing.T) {
	t.Logf("%d objects of each kind and operation, seed %d", *objects, *seed)
	pair := &pair{
		oracle: run(t, build(t, *oraclePath, ".", "./oracle")),
		judge:  run(t, build(t, *judgePath, filepathOfMain, "./hack/judge")),
	}
	for _, subject := range subjects() {
		t.Run(subject.kind+" "+subject.operation, func(t *testing.T) { compareAll(t, pair, subject) })
	}
}

// filepathOfMain is the folder of the main module.
const filepathOfMain = "../.."

func compareAll(t *testing.T, pair *pair, subject *subject) {
	var counted tally
	for number := range *objects {
		if *only >= 0 && number != *only {
			continue
		}
		question := subject.question(t, pair, generate.New(*seed, subject.kind+subject.operation, number))
		wanted, got := pair.ask(t, question)
		counted.add(wanted)
		found := compare(t, pair, question, wanted, got)
		if len(found) == 0 {
			continue
		}
		if counted.different++; counted.different > *show {
			continue
		}
		text, err := json.Marshal(question)
		require.NoError(t, err)
		t.Logf("object %d: %s", number, text)
		for _, difference := range found {
			t.Logf("object %d: %s", number, difference)
		}
	}
	t.Log(counted.String())
	if counted.different > 0 {
		t.Errorf("%d objects get other answers than from Kubernetes", counted.different)
	}
}

// pair is the two programs.
type pair struct{ oracle, judge *program }

// ask asks both the same. What Kubernetes says is what is wanted.
func (p *pair) ask(t *testing.T, question *wire.Question) (wanted, got *wire.Answer) {
	t.Helper()
	line, err := json.Marshal(question)
	require.NoError(t, err)
	line = append(line, '\n')
	p.oracle.ask(t, line)
	p.judge.ask(t, line)
	return p.oracle.answer(t), p.judge.answer(t)
}

// subject is a kind and what is done to its objects.
type subject struct {
	kind, operation string
	// question makes a question about an object that was made at random.
	question func(t *testing.T, pair *pair, g *generate.Generator) *wire.Question
}

func subjects() []*subject {
	workloads := maker[*schedulingv1alpha2.Workload]{"Workload", func() *schedulingv1alpha2.Workload { return &schedulingv1alpha2.Workload{} }, (*generate.Generator).Workload, nil, func(w *schedulingv1alpha2.Workload) []any { return []any{&w.ObjectMeta, &w.Spec, &w.Spec, w} }}
	groups := maker[*schedulingv1alpha2.PodGroup]{"PodGroup", func() *schedulingv1alpha2.PodGroup { return &schedulingv1alpha2.PodGroup{} }, (*generate.Generator).PodGroup,
		func(g *generate.Generator, group *schedulingv1alpha2.PodGroup) {
			group.Status = g.PodGroupStatus(group)
		},
		func(p *schedulingv1alpha2.PodGroup) []any { return []any{&p.ObjectMeta, &p.Spec, &p.Spec, p} }}
	groupStatuses := groups
	groupStatuses.parts = func(p *schedulingv1alpha2.PodGroup) []any { return []any{&p.Status, &p.Status, &p.Status, p} }
	jobs := maker[*batchv1.Job]{"Job", func() *batchv1.Job { return &batchv1.Job{} }, (*generate.Generator).Job,
		func(g *generate.Generator, job *batchv1.Job) { job.Status = g.JobStatus(job) },
		func(j *batchv1.Job) []any { return []any{&j.ObjectMeta, &j.Spec, &j.Spec, &j.Spec.Template, j} }}
	jobStatuses := jobs
	jobStatuses.parts = func(j *batchv1.Job) []any { return []any{&j.Status, &j.Status, &j.Status, j} }
	pods := maker[*corev1.Pod]{"Pod", func() *corev1.Pod { return &corev1.Pod{} }, (*generate.Generator).Pod,
		func(g *generate.Generator, pod *corev1.Pod) { pod.Status = g.PodStatus(pod) },
		func(p *corev1.Pod) []any { return []any{&p.ObjectMeta, &p.Spec, &p.Spec, &p.Spec, p} }}
	podStatuses := pods
	podStatuses.parts = func(p *corev1.Pod) []any { return []any{&p.Status, &p.Status, &p.Status, p} }
	return []*subject{
		workloads.create(), workloads.update("update"),
		groups.create(), groups.update("update"), groupStatuses.update("status"),
		jobs.create(), jobs.update("update"), jobStatuses.update("status"),
		pods.create(), pods.update("update"), podStatuses.update("status"),
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
	// live gives a stored object a status. It is nil for kinds that have none.
	live func(*generate.Generator, T)
	// parts are what mistakes are made in. What is listed twice is twice as likely.
	parts func(T) []any
}

func (m maker[T]) create() *subject {
	return &subject{m.kind, "create", func(t *testing.T, _ *pair, g *generate.Generator) *wire.Question {
		t.Helper()
		return &wire.Question{Kind: m.kind, Operation: "create", Gates: g.Gates(), Object: encode(t, m.spoil(g, m.make(g)))}
	}}
}

// update makes questions about an object that is to take the place of a stored one: the same, some mistakes apart. The
// stored one is mostly as a server would have it, but may have been let in under rules that were laxer.
func (m maker[T]) update(operation string) *subject {
	return &subject{m.kind, operation, func(t *testing.T, pair *pair, g *generate.Generator) *wire.Question {
		t.Helper()
		old := m.make(g)
		old = m.store(t, pair, g, old)
		g.Stored(old)
		if m.live != nil {
			m.live(g, old)
		}
		if g.Chance(0.25) {
			old = m.spoil(g, old)
		}
		generate.DropUnserved(old)
		changed := old.DeepCopyObject().(T)
		if m.live != nil && operation == "status" && g.Chance(0.5) {
			m.live(g, changed)
		}
		changed = m.spoil(g, changed)
		return &wire.Question{Kind: m.kind, Operation: operation, Gates: g.Gates(), Object: encode(t, changed), Old: encode(t, old)}
	}}
}

// store returns an object as Kubernetes would store it, and as it is if it would not.
func (m maker[T]) store(t *testing.T, pair *pair, g *generate.Generator, obj T) T {
	t.Helper()
	line, err := json.Marshal(&wire.Question{Kind: m.kind, Operation: "create", Gates: g.Gates(), Object: encode(t, obj)})
	require.NoError(t, err)
	pair.oracle.ask(t, append(line, '\n'))
	answer := pair.oracle.answer(t)
	if answer.Panic != "" || len(answer.Errors) > 0 {
		return obj
	}
	stored := m.empty()
	require.NoError(t, json.Unmarshal(answer.Object, stored))
	return stored
}

// spoil makes some mistakes.
func (m maker[T]) spoil(g *generate.Generator, obj T) T {
	for range g.Mutations() {
		parts := m.parts(obj)
		g.Mutate(parts[g.Below(len(parts))])
	}
	return obj
}

func encode(t *testing.T, obj any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	return text
}
