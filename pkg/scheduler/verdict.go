package scheduler

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// verdict is what a node said to a pod the last time it was asked.
type verdict struct {
	// version is that of the node at the time; 0 if it was never asked.
	version uint64
	refusal refusal
	// score and pods decide between nodes that take the pod.
	score int64
	pods  int
}

// verdicts remembers what each node said to pods of each kind. Members of a gang, and of one gang after another, are
// alike, and few nodes change between one pod and the next: only those are asked again.
type verdicts map[string][]verdict

// mostKinds bounds the kinds of pods that are remembered. A cluster in which there are more is better off without.
const mostKinds = 64

// of returns what the nodes said to pods like this one, by the place of a node among so many.
func (v verdicts) of(p *podInfo, nodes int) []verdict {
	kind := p.kind()
	said := v[kind]
	if len(said) != nodes {
		if said == nil && len(v) >= mostKinds {
			clear(v)
		}
		said = make([]verdict, nodes)
		v[kind] = said
	}
	return said
}

// ask returns what the node says to the pod, from memory if it has not changed. A node on which room is being made
// distinguishes between pods of one kind, and is always asked.
func (n *nodeInfo) ask(p *podInfo, said *verdict) *verdict {
	if said.version != n.version || len(n.nominated) > 0 {
		*said = verdict{version: n.version, refusal: filter(p, n)}
		if len(n.nominated) > 0 {
			said.version = 0
		}
		if said.refusal.fits() {
			said.score, said.pods = score(p, n), len(n.pods)
		}
	}
	return said
}

// kind is a text that pods have in common to whom every node says the same.
func (p *podInfo) kind() string {
	if p.kindText == "" {
		p.kindText = kindOf(p)
	}
	return p.kindText
}

func kindOf(p *podInfo) string {
	spec := &p.object.Spec
	text := fmt.Sprintf("%d %d %d %v %v", p.requests.milliCPU, p.requests.memory, p.requests.storage, p.requests.scalars, p.weight)
	if len(p.ports) == 0 && p.affinity == nil && len(spec.Tolerations) == 0 && spec.NodeName == "" {
		return text
	}
	asks := struct {
		Ports       []corev1.ContainerPort
		Selector    map[string]string
		Affinity    *corev1.NodeAffinity
		Tolerations []corev1.Toleration
		Node        string
	}{Ports: p.ports, Selector: spec.NodeSelector, Tolerations: spec.Tolerations, Node: spec.NodeName}
	if spec.Affinity != nil {
		asks.Affinity = spec.Affinity.NodeAffinity
	}
	more, err := json.Marshal(asks)
	if err != nil {
		return string(p.uid()) // a kind of its own
	}
	return text + string(more)
}
