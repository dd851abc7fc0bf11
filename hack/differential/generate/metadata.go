package generate

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// uid is the identity of every object that is created: what is made of it can be compared.
const uid types.UID = "00000000-0000-0000-0000-000000000007"

// metadata returns the metadata of an object that is to be created, as it is once the server has filled in identity and
// namespace.
func (g *Generator) metadata() metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: g.name(), Namespace: "ns", UID: uid, CreationTimestamp: g.day(0)}
	if g.Chance(0.05) {
		meta.GenerateName = "gen-"
	}
	if g.Chance(0.2) {
		meta.Labels = g.labels()
	}
	if g.Chance(0.2) {
		meta.Annotations = g.annotations()
	}
	if g.Chance(0.1) {
		meta.Finalizers = some(g, 1, 2, func(int) string {
			return pick(g, "example.com/a", "example.com/b", "orphan",
				"foregroundDeletion")
		})
	}
	if g.Chance(0.1) {
		meta.OwnerReferences = some(g, 1, 2, func(i int) metav1.OwnerReference {
			owner := metav1.OwnerReference{APIVersion: pick(g, "v1", "batch/v1", "example.com/v1"),
				Kind: pick(g, "Job", "Pod", "Thing"), Name: g.name(), UID: uid}
			if i == 0 {
				owner.Controller = maybe(g, 0.5, of(g, true, false))
			}
			return owner
		})
	}
	return meta
}

// annotations returns a few annotations, some with a meaning of old.
func (g *Generator) annotations() map[string]string {
	annotations := g.labels()
	if annotations == nil || g.Chance(0.5) {
		annotations = map[string]string{pick(g, oldAnnotations...): pick(g, oldValues...)}
	}
	return annotations
}

// The annotations that pods have been told of things by, before there were fields for them, and their values.
var (
	oldAnnotations = []string{
		"container.apparmor.security.beta.kubernetes.io/c0", "container.apparmor.security.beta.kubernetes.io/i0",
		"container.apparmor.security.beta.kubernetes.io/none", "seccomp.security.alpha.kubernetes.io/pod",
		"container.seccomp.security.alpha.kubernetes.io/c0", "pod.beta.kubernetes.io/init-containers",
		"kubernetes.io/config.mirror",
		"kubernetes.io/config.source", "scheduler.alpha.kubernetes.io/tolerations", "scheduler.alpha.kubernetes.io/critical-pod",
		"controller.kubernetes.io/pod-deletion-cost", "security.alpha.kubernetes.io/sysctls", "kubernetes.io/limit-ranger",
		"batch.kubernetes.io/job-completion-index",
	}
	oldValues = []string{
		"", "runtime/default", "docker/default", "unconfined", "localhost/", "localhost/mine", "localhost/a/b", "localhost//a",
		"localhost/../a", "mine", "10", "-5", "+5", "05", "1.5", "[]", `[{"key":"a"}]`, `[{"key":1}]`, `[{"key":`,
		`[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]`, `[{"effect":{}}]`, "true",
	}
)

// Stored makes the metadata of an object that was created be that of one that is stored, sometimes of one that is on
// its way out.
func (g *Generator) Stored(meta metav1.Object) {
	meta.SetUID(uid)
	meta.SetCreationTimestamp(g.day(0))
	meta.SetResourceVersion("5")
	if g.Chance(0.1) {
		meta.SetDeletionTimestamp(new(g.day(20)))
		meta.SetDeletionGracePeriodSeconds(new(int64(0)))
		if len(meta.GetFinalizers()) == 0 {
			meta.SetFinalizers([]string{"example.com/a"})
		}
	}
}

// day returns a time: so many hours into the one day on which everything happens.
func (g *Generator) day(hours int) metav1.Time {
	return metav1.Date(2026, time.January, 1, hours, 0, 0, 0, time.UTC)
}

func (g *Generator) labelSelector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{MatchLabels: g.labels()}
	if g.Chance(0.3) {
		selector.MatchExpressions = some(g, 1, 2, func(int) metav1.LabelSelectorRequirement {
			requirement := metav1.LabelSelectorRequirement{
				Key: g.labelKey(), Operator: pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
					metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
			}
			if requirement.Operator == metav1.LabelSelectorOpIn || requirement.Operator == metav1.LabelSelectorOpNotIn {
				requirement.Values = []string{"a", "b"}
			}
			return requirement
		})
	}
	return selector
}
