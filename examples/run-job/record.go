package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// record keeps the life of every pod, also of those that are gone, with what happened to their Jobs.
type record struct {
	nodes    []life.Mark
	notReady map[string]bool // the names of such nodes; of many pods to look each node up would take long
	sections map[types.UID]*section
	order    []types.UID // of the sections, as they came up
	pods     map[types.UID]*podRecord
}

// section is what is known of a Job, of a pod group that no Job owns, or of pods that belong to neither.
type section struct {
	name  string
	marks []life.Mark
	pods  []*podRecord // in the order in which they were made
}

type podRecord struct {
	name, node, note string
	index            int // -1 if it has none
	spans            []life.Span
}

func newRecord() *record {
	return &record{notReady: map[string]bool{}, sections: map[types.UID]*section{}, pods: map[types.UID]*podRecord{}}
}

// loners is the key of the section of pods that are in no Job and no pod group.
const loners = types.UID("")

// observe takes in an observation that has been applied to the world.
func (r *record) observe(w *world, o observation) {
	switch object := o.object.(type) {
	case *batchv1.Job:
		r.section(object.UID, subjectOf(object).name)
	case *corev1.Pod:
		r.observePod(w, object, o)
	case *corev1.Node:
		before := r.notReady[object.Name]
		delete(r.notReady, object.Name)
		if !o.deleted && nodeReady(object).Status != corev1.ConditionTrue {
			r.notReady[object.Name] = true
		}
		if before == r.notReady[object.Name] {
			return
		}
		for uid, p := range r.pods {
			if pod := withUID[*corev1.Pod](w, uid); p.node == object.Name && pod != nil {
				p.spans = life.Enter(p.spans, r.stateOf(pod), time.Duration(o.at))
			}
		}
	}
}

func (r *record) observePod(w *world, pod *corev1.Pod, o observation) {
	p := r.pods[pod.UID]
	if p == nil {
		p = &podRecord{name: pod.Name, index: -1}
		if index, ok := batch.CompletionIndex(pod); ok {
			p.index = index
		}
		r.pods[pod.UID] = p
		s := r.sectionOf(w, pod)
		s.pods = append(s.pods, p)
	}
	p.node = pod.Spec.NodeName
	state := r.stateOf(pod)
	if state == life.Failed {
		p.note = "Failed"
		if code := exitCode(pod); code != nil {
			p.note = fmt.Sprintf("exit code %d", *code)
		}
	}
	if o.deleted {
		state = life.Gone
	}
	p.spans = life.Enter(p.spans, state, time.Duration(o.at))
}

// stateOf is what a pod does, as far as the API server knows.
func (r *record) stateOf(pod *corev1.Pod) life.State {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return life.Succeeded
	case core.PodFinished(pod):
		return life.Failed
	case pod.Spec.NodeName != "" && r.notReady[pod.Spec.NodeName]:
		return life.Lost
	case pod.DeletionTimestamp != nil:
		return life.Terminating
	case pod.Status.Phase == corev1.PodRunning:
		return life.Running
	case pod.Spec.NodeName != "":
		return life.Scheduled
	default:
		return life.Waiting
	}
}

func (r *record) section(key types.UID, name string) *section {
	s := r.sections[key]
	if s == nil {
		s = &section{name: name}
		r.sections[key] = s
		r.order = append(r.order, key)
	}
	return s
}

// sectionOf returns the section that a pod belongs to.
func (r *record) sectionOf(w *world, pod *corev1.Pod) *section {
	if job := owningJob(pod); job != "" {
		return r.section(job, "job "+pod.Namespace+"/"+metav1.GetControllerOf(pod).Name)
	}
	if group := named[*schedulingv1alpha2.PodGroup](w, pod.Namespace, groupOf(pod)); group != nil && groupOf(pod) != "" {
		return r.section(group.UID, subjectOf(group).name)
	}
	return r.section(loners, "pods")
}

// mark keeps what happened to an object where it belongs: a nil object stands for a node. Marks of what has no section are
// dropped.
func (r *record) mark(w *world, object metav1.Object, at offset, c change) {
	if c.kind == life.NoMark {
		return
	}
	m := life.Mark{At: time.Duration(at), Kind: c.kind, Label: c.label, Text: c.what}
	if _, isNode := object.(*corev1.Node); isNode || object == nil {
		if isNode {
			m.Text = joined(subjectOf(object).name, m.Text)
		}
		r.nodes = append(r.nodes, m)
		return
	}
	if s := r.sectionWith(w, object); s != nil {
		if _, isJob := object.(*batchv1.Job); !isJob {
			m.Text = joined(subjectOf(object).name, m.Text)
		}
		s.marks = append(s.marks, m)
	}
}

// sectionWith returns the section that a mark of an object belongs into, nil if there is none.
func (r *record) sectionWith(w *world, object metav1.Object) *section {
	if event, ok := object.(*corev1.Event); ok {
		about, known := w.objects[event.InvolvedObject.UID]
		if !known {
			return nil
		}
		if _, isNode := about.(*corev1.Node); isNode {
			return nil // its own changes say it
		}
		object = about
	}
	if s := r.sections[owningJob(object)]; owningJob(object) != "" && s != nil {
		return s
	}
	switch object := object.(type) {
	case *schedulingv1alpha2.PodGroup:
		for _, pod := range w.members(object) {
			return r.sectionOf(w, pod)
		}
		return r.section(object.UID, subjectOf(object).name)
	case *corev1.Pod:
		return r.sectionOf(w, object)
	}
	return nil
}

// life returns what has been recorded until an end.
func (f *follower) life(title string, end offset) life.Life {
	f.telling.Lock()
	defer f.telling.Unlock()
	l := life.Life{Title: title, End: time.Duration(end), Nodes: slices.Clone(f.record.nodes)}
	for _, e := range f.entries {
		l.End = max(l.End, time.Duration(e.At))
	}
	for _, key := range f.record.order {
		s := f.record.sections[key]
		part := life.Section{Name: s.name, Marks: slices.Clone(s.marks), Pods: s.lives(l.End)}
		part.Note = f.world.standing(key, part.Pods)
		life.SortMarks(part.Marks)
		l.Sections = append(l.Sections, part)
	}
	return l
}

// lives returns the pods of a section, those of one index together.
func (s *section) lives(end time.Duration) []life.Pod {
	pods := slices.Clone(s.pods)
	slices.SortStableFunc(pods, func(a, b *podRecord) int { return cmp.Compare(a.index, b.index) })
	var list []life.Pod
	tries := map[int]int{}
	for _, p := range pods {
		label := p.name
		if p.index >= 0 {
			tries[p.index]++
			label = fmt.Sprintf("index %d", p.index)
			if n := tries[p.index]; n > 1 {
				label = fmt.Sprintf("index %d, pod %d", p.index, n)
			}
		}
		list = append(list, life.Pod{Name: p.name, Label: label, Node: p.node, Note: p.note, Spans: life.Close(p.spans, end)})
	}
	return list
}

// standing says how a section stands.
func (w *world) standing(key types.UID, pods []life.Pod) string {
	job := withUID[*batchv1.Job](w, key)
	if job == nil {
		return life.Count(pods).String()
	}
	text := fmt.Sprintf("%s succeeded, %d failed", progressOf(job), job.Status.Failed)
	if job.Spec.Completions == nil {
		text = fmt.Sprintf("%d succeeded, %d failed", job.Status.Succeeded, job.Status.Failed)
	}
	if condition, ended := finishedBy(job); ended {
		text = string(condition.Type) + ": " + text
	}
	if w.gone[key] {
		text += ", deleted"
	}
	return strings.TrimSpace(text)
}
