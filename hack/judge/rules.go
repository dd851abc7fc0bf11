package main

import (
	"encoding/json"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// rules are those for one kind, called as an API server calls them: from defaults to warnings. Functions that a kind
// has no need of are nil.
type rules[T any] struct {
	setDefaults    func(*T)
	prepare        func(*T) (warnings []string)
	validate       func(*T) field.ErrorList
	warnings       func(*T) []string
	prepareUpdate  func(changed, old *T)
	validateUpdate func(changed, old *T) field.ErrorList
	updateWarnings func(changed, old *T) []string
}

// created answers for a create.
func created[T any](given *answer, asked *question, rules rules[T]) {
	obj := read(given, asked.Object, rules.setDefaults)
	if obj == nil {
		return
	}
	given.Object = obj
	given.Warnings = rules.prepare(obj)
	given.list(rules.validate(obj))
	if rules.warnings != nil {
		given.Warnings = append(given.Warnings, rules.warnings(obj)...)
	}
}

// updated answers for an update.
func updated[T any](given *answer, asked *question, rules rules[T]) {
	obj := read(given, asked.Object, rules.setDefaults)
	old := read(given, asked.Old, rules.setDefaults)
	if obj == nil || old == nil {
		return
	}
	given.Object = obj
	meta, oldMeta := any(obj).(metav1.Object), any(old).(metav1.Object)
	meta.SetGeneration(oldMeta.GetGeneration())
	rules.prepareUpdate(obj, old)
	keepMetadata(meta, oldMeta)
	given.list(rules.validateUpdate(obj, old))
	if rules.updateWarnings != nil {
		given.Warnings = rules.updateWarnings(obj, old)
	}
}

func read[T any](given *answer, text json.RawMessage, setDefaults func(*T)) *T {
	obj := new(T)
	if err := json.Unmarshal(text, obj); err != nil {
		given.Undecodable = err.Error()
		return nil
	}
	if setDefaults != nil {
		setDefaults(obj)
	}
	return obj
}

// keepMetadata keeps what no update of any kind changes.
func keepMetadata(meta, old metav1.Object) {
	if meta.GetUID() == "" {
		meta.SetUID(old.GetUID())
	}
	if at := old.GetCreationTimestamp(); !at.IsZero() {
		meta.SetCreationTimestamp(at)
	}
	if at := old.GetDeletionTimestamp(); !at.IsZero() {
		meta.SetDeletionTimestamp(at)
	}
	if period := old.GetDeletionGracePeriodSeconds(); period != nil && meta.GetDeletionGracePeriodSeconds() == nil {
		meta.SetDeletionGracePeriodSeconds(period)
	}
}

func (a *answer) list(errs field.ErrorList) {
	for _, err := range errs {
		a.Errors = append(a.Errors, fault{Type: err.Type, Field: err.Field, Detail: err.ErrorBody()})
	}
}

func workloadRules(gates features.Gates) rules[schedulingv1alpha2.Workload] {
	type workload = schedulingv1alpha2.Workload
	return rules[workload]{
		prepare: func(w *workload) []string {
			validation.DropDisabledWorkloadFields(w, nil, gates)
			return nil
		},
		validate:      func(w *workload) field.ErrorList { return validation.ValidateWorkload(w, gates) },
		prepareUpdate: func(w, old *workload) { validation.DropDisabledWorkloadFields(w, old, gates) },
		validateUpdate: func(w, old *workload) field.ErrorList {
			return validation.ValidateWorkloadUpdate(w, old, gates)
		},
	}
}

func podGroupRules(gates features.Gates) rules[schedulingv1alpha2.PodGroup] {
	type group = schedulingv1alpha2.PodGroup
	return rules[group]{
		setDefaults: schedulingv1alpha2.SetObjectDefaults_PodGroup,
		prepare: func(g *group) []string {
			g.Status = schedulingv1alpha2.PodGroupStatus{}
			validation.DropDisabledPodGroupFields(g, nil, gates)
			return nil
		},
		validate: func(g *group) field.ErrorList { return validation.ValidatePodGroup(g, gates) },
		prepareUpdate: func(g, old *group) {
			g.Status = old.Status
			validation.DropDisabledPodGroupFields(g, old, gates)
		},
		validateUpdate: func(g, old *group) field.ErrorList { return validation.ValidatePodGroupUpdate(g, old, gates) },
	}
}

func podGroupStatusRules(gates features.Gates) rules[schedulingv1alpha2.PodGroup] {
	type group = schedulingv1alpha2.PodGroup
	return rules[group]{
		setDefaults: schedulingv1alpha2.SetObjectDefaults_PodGroup,
		prepareUpdate: func(g, old *group) {
			g.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&g.ObjectMeta, &old.ObjectMeta)
			validation.DropDisabledPodGroupStatusFields(g, old, gates)
		},
		validateUpdate: func(g, old *group) field.ErrorList {
			return validation.ValidatePodGroupStatusUpdate(g, old, gates)
		},
	}
}

func jobRules(gates features.Gates) rules[batchv1.Job] {
	options := batch.Options{Gates: gates}
	return rules[batchv1.Job]{
		setDefaults: batch.SetDefaults,
		prepare: func(job *batchv1.Job) []string {
			batch.DropDisabledFields(job, nil, gates)
			batch.PrepareForCreate(job)
			return nil
		},
		validate: func(job *batchv1.Job) field.ErrorList { return batch.Validate(job, options) },
		warnings: batch.Warnings,
		prepareUpdate: func(job, old *batchv1.Job) {
			batch.DropDisabledFields(job, old, gates)
			batch.PrepareForUpdate(job, old)
		},
		validateUpdate: func(job, old *batchv1.Job) field.ErrorList { return batch.ValidateUpdate(job, old, options) },
		updateWarnings: batch.UpdateWarnings,
	}
}

func jobStatusRules() rules[batchv1.Job] {
	return rules[batchv1.Job]{
		setDefaults:    batch.SetDefaults,
		prepareUpdate:  batch.PrepareForStatusUpdate,
		validateUpdate: batch.ValidateStatusUpdate,
	}
}

func podRules(gates features.Gates) rules[corev1.Pod] {
	options := core.Options{Gates: gates}
	return rules[corev1.Pod]{
		setDefaults:    core.SetPodDefaults,
		prepare:        func(pod *corev1.Pod) []string { return core.PreparePodForCreate(pod, gates, time.Now()) },
		validate:       func(pod *corev1.Pod) field.ErrorList { return core.ValidatePod(pod, options) },
		warnings:       core.PodWarnings,
		prepareUpdate:  func(pod, old *corev1.Pod) { core.PreparePodForUpdate(pod, old, gates) },
		validateUpdate: func(pod, old *corev1.Pod) field.ErrorList { return core.ValidatePodUpdate(pod, old, options) },
	}
}

func podStatusRules(gates features.Gates) rules[corev1.Pod] {
	options := core.Options{Gates: gates}
	return rules[corev1.Pod]{
		setDefaults:    core.SetPodDefaults,
		prepareUpdate:  func(pod, old *corev1.Pod) { core.PreparePodForStatusUpdate(pod, old, gates) },
		validateUpdate: func(pod, old *corev1.Pod) field.ErrorList { return core.ValidatePodStatusUpdate(pod, old, options) },
		updateWarnings: func(pod, _ *corev1.Pod) []string { return core.PodStatusWarnings(pod) },
	}
}
