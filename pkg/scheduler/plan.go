package scheduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// Snapshot is a cluster as [Plan] sees it. Pods are in the order in which they came, which decides between pods of one
// priority and one second. They may come from an API server, or be made by hand: without UID and scheduler's name they
// are told apart by name, and are for the default scheduler.
type Snapshot struct {
	Nodes     []*corev1.Node
	Pods      []*corev1.Pod
	PodGroups []*schedulingv1alpha2.PodGroup
}

// Plan says what a [Scheduler] would do about the waiting pods of a snapshot: one decision for each group and each pod
// on its own, in the order in which they would be made, each seeing the places that the ones before it gave away.
// Groups that are not admitted yet, because members or the PodGroup are missing, and pods with scheduling gates have
// none. Plan asks nobody and changes nothing; the same snapshot has the same plan.
func Plan(snapshot Snapshot, options Options) []Decision {
	policy := options.policy()
	c := newCluster(policy)
	for _, node := range snapshot.Nodes {
		c.setNode(node)
	}
	for _, group := range snapshot.PodGroups {
		c.setGroup(group)
	}
	var keys []unitKey
	seen := map[unitKey]bool{}
	for _, pod := range snapshot.Pods {
		c.instants++ // each pod has come at a time of its own
		if c.setPod(pod) == nil {
			continue
		}
		if key := keyOf(pod, policy); !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	var units []*unit
	for _, key := range keys {
		if candidates := c.candidates(key); len(candidates) > 0 && c.admitted(key) {
			units = append(units, &unit{key: key, urgency: candidates[0]})
		}
	}
	slices.SortStableFunc(units, func(a, b *unit) int { return byUrgency(a.urgency, b.urgency) })
	decisions := make([]Decision, 0, len(units))
	for _, u := range units {
		if decision, tried := c.schedule(u.key); tried {
			decisions = append(decisions, decision)
		}
	}
	return decisions
}
