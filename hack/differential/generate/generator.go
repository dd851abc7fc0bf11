// Package generate makes Workloads, PodGroups, Jobs and Pods at random: objects that are valid, or nearly so, and that
// between them use most of what their types offer.
//
// [New] is the entry point. It makes no promise that an object is valid: what is, the programs that judge it say.
package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator makes objects. It is no more than a source of random numbers, the same for the same seed.
type Generator struct {
	random *rand.Rand
}

// New returns the generator for one case: the same for the same three.
func New(seed uint64, name string, number int) *Generator {
	for _, b := range []byte(name) {
		seed = seed*1099511628211 + uint64(b)
	}
	return &Generator{random: rand.New(rand.NewPCG(seed, uint64(number)))}
}

// Chance is true with the given probability.
func (g *Generator) Chance(probability float64) bool { return g.random.Float64() < probability }

// Below returns a number from 0 to n-1.
func (g *Generator) Below(n int) int { return g.random.IntN(n) }

// Mutations is how many mistakes to make: often none, and three at most.
func (g *Generator) Mutations() int {
	return pick(g, 0, 1, 1, 1, 1, 2, 2, 3)
}

// Gates are the feature gates of a server: mostly all, sometimes only the one without which there is nothing.
func (g *Generator) Gates() []string {
	gates := []string{"GenericWorkload"}
	if g.Chance(0.1) {
		return gates
	}
	partial := g.Chance(0.1)
	for _, gate := range []string{"GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling",
		"DRAWorkloadResourceClaims", "WorkloadWithJob"} {
		if partial && g.Chance(0.5) {
			if gate == "GangScheduling" {
				break // the next one needs it
			}
			continue
		}
		gates = append(gates, gate)
	}
	return gates
}

// pick returns one of the values.
func pick[T any](g *Generator, values ...T) T { return values[g.random.IntN(len(values))] }

// maybe returns a pointer to a value with the given probability, and nil otherwise.
func maybe[T any](g *Generator, probability float64, value func() T) *T {
	if !g.Chance(probability) {
		return nil
	}
	return new(value())
}

// some returns a list of at least min and at most max values.
func some[T any](g *Generator, minimum, maximum int, value func(i int) T) []T {
	var list []T
	for i := range minimum + g.random.IntN(maximum-minimum+1) {
		list = append(list, value(i))
	}
	return list
}

// number returns a function that returns a number from low to high.
func number[T int | int32 | int64](g *Generator, low, high int) func() T {
	return func() T { return T(low + g.random.IntN(high-low+1)) }
}

// of returns a function that returns one of the values.
func of[T any](g *Generator, values ...T) func() T {
	return func() T { return pick(g, values...) }
}

// name returns a short DNS label.
func (g *Generator) name() string { return pick(g, "a", "worker", "main-1", "x9", "the-leader", "b") }

// uniqueName returns a DNS label that is another for each i.
func (g *Generator) uniqueName(i int) string { return fmt.Sprintf("%s-%d", g.name(), i) }

// labelKey returns a key for labels and annotations.
func (g *Generator) labelKey() string {
	return pick(g, "app", "example.com/role", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "tier")
}

// labels returns a few labels.
func (g *Generator) labels() map[string]string {
	labels := map[string]string{}
	for range g.random.IntN(3) {
		labels[g.labelKey()] = pick(g, "", "a", "web", "v1.2", "A_b-c")
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// indexes returns a list of indexes such as 0,2-4.
func (g *Generator) indexes(below int) string {
	var parts []string
	for i := g.random.IntN(3); i < below && len(parts) < 4; i++ {
		last := min(below-1, i+g.random.IntN(3))
		if last == i {
			parts = append(parts, fmt.Sprint(i))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", i, last))
		}
		i = last + 1 + g.random.IntN(3)
	}
	return strings.Join(parts, ",")
}
