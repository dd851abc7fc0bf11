package features

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Gate is the name of a feature gate, spelled as the --feature-gates flag of Kubernetes spells it.
type Gate string

// The alpha gates of Kubernetes 1.36 round gang scheduling; all are off in a cluster by default.
const (
	// GenericWorkload serves Workload and PodGroup and the field spec.schedulingGroup of pods (KEP-4671).
	GenericWorkload Gate = "GenericWorkload"
	// GangScheduling lets the scheduler hold pods back until a whole gang fits (KEP-4671).
	GangScheduling Gate = "GangScheduling"
	// WorkloadAwarePreemption gives PodGroups a priority and a disruption mode (KEP-5710).
	WorkloadAwarePreemption Gate = "WorkloadAwarePreemption"
	// TopologyAwareWorkloadScheduling gives PodGroups scheduling constraints (KEP-5732).
	TopologyAwareWorkloadScheduling Gate = "TopologyAwareWorkloadScheduling"
	// DRAWorkloadResourceClaims lets the pods of a group share resource claims (KEP-5729).
	DRAWorkloadResourceClaims Gate = "DRAWorkloadResourceClaims"
	// WorkloadWithJob lets the Job controller make Workloads and PodGroups (KEP-5547).
	WorkloadWithJob Gate = "WorkloadWithJob"
)

// known lists each gate with the gate it cannot do without, in the order in which they are printed.
var known = []struct{ gate, needs Gate }{
	{DRAWorkloadResourceClaims, GenericWorkload},
	{GangScheduling, GenericWorkload},
	{GenericWorkload, ""},
	{TopologyAwareWorkloadScheduling, GenericWorkload},
	{WorkloadAwarePreemption, GangScheduling},
	{WorkloadWithJob, GenericWorkload},
}

// Gates says which feature gates are on. It is a value: copies are independent and == compares them.
// The zero value has every gate on.
type Gates struct {
	// off has bit i set when known[i] is off, so that the zero value is the useful one.
	off uint8
}

// Known returns every gate, sorted by name.
func Known() []Gate {
	gates := make([]Gate, len(known))
	for i, k := range known {
		gates[i] = k.gate
	}
	return gates
}

// KubernetesDefaults returns the gates of a 1.36 cluster that nobody configured: all off.
func KubernetesDefaults() Gates {
	return Gates{off: 1<<len(known) - 1}
}

// Enabled reports whether gate is on. A gate that this package does not know is off.
func (g Gates) Enabled(gate Gate) bool {
	i := index(gate)
	return i >= 0 && g.off&(1<<i) == 0
}

// With returns a copy of g in which gate is on or off as told. A gate that this package does not know changes nothing;
// [Parse] is the place that refuses those.
func (g Gates) With(gate Gate, on bool) Gates {
	i := index(gate)
	switch {
	case i < 0:
	case on:
		g.off &^= 1 << i
	default:
		g.off |= 1 << i
	}
	return g
}

// Validate returns an error that names each gate which is on without the gate it needs, as kube-apiserver does at start.
func (g Gates) Validate() error {
	var faults []string
	for _, k := range known {
		if k.needs != "" && g.Enabled(k.gate) && !g.Enabled(k.needs) {
			faults = append(faults, fmt.Sprintf("%s needs %s: switch %s off or %s on", k.gate, k.needs, k.gate, k.needs))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("feature gates: %s", strings.Join(faults, "; "))
	}
	return nil
}

// Options returns every gate by name with its state: the form that declarative validation takes, in which a gate that
// is left out is an internal error rather than off.
func (g Gates) Options() map[string]bool {
	options := make(map[string]bool, len(known))
	for _, k := range known {
		options[string(k.gate)] = g.Enabled(k.gate)
	}
	return options
}

// String returns every gate in the form that [Parse] reads, sorted by name.
func (g Gates) String() string {
	parts := make([]string, len(known))
	for i, k := range known {
		parts[i] = string(k.gate) + "=" + strconv.FormatBool(g.Enabled(k.gate))
	}
	return strings.Join(parts, ",")
}

// Parse reads NAME=BOOL pairs parted by commas, as --feature-gates of Kubernetes takes them. What the text does not
// name stays on; AllAlpha names all of them, and single names win over it wherever they stand. An unknown name or a
// value that is no boolean is an error, as is a gate that is on without the one it needs.
func Parse(text string) (Gates, error) {
	var gates Gates
	single := map[Gate]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !found || err != nil {
			return Gates{}, fmt.Errorf("feature gate %q: want NAME=true or NAME=false", pair)
		}
		switch gate := Gate(strings.TrimSpace(name)); {
		case gate == "AllAlpha" && !on:
			gates = KubernetesDefaults()
		case gate == "AllAlpha":
			gates = Gates{}
		case index(gate) < 0:
			return Gates{}, fmt.Errorf("feature gate %q is not known: have %v", gate, Known())
		default:
			single[gate] = on
		}
	}
	for gate, on := range single {
		gates = gates.With(gate, on)
	}
	return gates, gates.Validate()
}

// Set makes *Gates a flag value: see [Parse].
func (g *Gates) Set(text string) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}

// Type names the flag value's form in a usage text.
func (g *Gates) Type() string { return "NAME=BOOL,..." }

func index(gate Gate) int {
	return slices.IndexFunc(known, func(k struct{ gate, needs Gate }) bool { return k.gate == gate })
}
