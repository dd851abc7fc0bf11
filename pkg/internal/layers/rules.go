package layers

// Module is the import path that every folder of the rules lies below.
const Module = "github.com/musterkube/muster"

// A Rule says what one unit may import. A unit is a folder with all that is below it; inside it imports are free.
type Rule struct {
	// Floor is the unit's height in the house. An arrow runs from a higher floor to a lower one.
	Floor int
	// Unit is a folder of the module. A trailing "*" stands for any one folder, each of which is a unit of its own.
	Unit string
	// May lists the units of this module that the unit may import. No one may import another unit's internal packages,
	// unless they are units themselves and listed.
	May []string
	// Outside lists what the unit may import from other modules, by how the import path begins. Nil allows everything.
	Outside []string
}

// A Ban keeps a unit from reaching a package, however long the way.
type Ban struct {
	// Reach is the import path that is banned, with all that is below it.
	Reach string
	// Units are the folders that the ban holds for. Nil means all of the module.
	Units []string
	// Because is the reason, for the one who reads the report.
	Because string
}

var (
	// pure is what has neither clients nor clocks in it: floors 0 to 2 without the generated clients.
	pure = []string{
		"apis", "pkg/features", "pkg/runonce", "pkg/core", "pkg/batch", "pkg/validation", "pkg/builder",
	}
	upToFloor2 = append([]string{"generated", "pkg/internal/check", "pkg/internal/guard"}, pure...)
	floor3     = []string{"pkg/controller/*", "pkg/dispatch", "pkg/kubelet", "pkg/scheduler"}
	floor4     = []string{"pkg/emulator", "pkg/faults"}
	// clients is what a program links that speaks to a cluster.
	clients = join(pure, floor3, []string{
		"generated/applyconfiguration", "generated/clientset", "generated/informers", "generated/listers",
	})
	upToFloor3 = join(upToFloor2, floor3)
	upToFloor4 = join(upToFloor3, floor4)
	upToFloor5 = join(upToFloor4, []string{"pkg/cluster"})
)

// Rules returns the floors of this module. A package that no rule covers is an error, so that each new one gets its row.
func Rules() []Rule {
	return []Rule{
		{Floor: 0, Unit: "apis", Outside: []string{"k8s.io/apimachinery"}},

		{Floor: 1, Unit: "generated", May: []string{"apis"}},
		{Floor: 1, Unit: "pkg/features"},
		{Floor: 1, Unit: "pkg/runonce"},
		{Floor: 1, Unit: "pkg/internal/check"},
		{Floor: 1, Unit: "pkg/internal/guard"},
		{Floor: 1, Unit: "pkg/internal/metadata"},
		{Floor: 1, Unit: "pkg/internal/queuemetrics"},

		{Floor: 2, Unit: "pkg/core", May: []string{"pkg/features", "pkg/internal/metadata"}},
		{Floor: 2, Unit: "pkg/batch", May: []string{"pkg/core", "pkg/features"}},
		{Floor: 2, Unit: "pkg/validation", May: []string{"apis", "generated/validation", "pkg/features", "pkg/internal/metadata"}},
		{Floor: 2, Unit: "pkg/builder", May: []string{"apis", "pkg/batch"}},
		{Floor: 2, Unit: "pkg/testing/wrappers", May: []string{"apis", "pkg/builder"}},

		{Floor: 3, Unit: "pkg/controller/*", May: join(upToFloor2, []string{"pkg/internal/queuemetrics"})},
		{Floor: 3, Unit: "pkg/dispatch", May: upToFloor2},
		{Floor: 3, Unit: "pkg/kubelet", May: upToFloor2},
		{Floor: 3, Unit: "pkg/scheduler", May: upToFloor2},
		{Floor: 3, Unit: "pkg/testing/expect", May: upToFloor2},

		{Floor: 4, Unit: "pkg/emulator", May: join(upToFloor2, []string{"pkg/internal/metadata"})},
		{Floor: 4, Unit: "pkg/faults", May: upToFloor2},

		// Before what it lies below, for tests lean on more.
		{Floor: 6, Unit: "pkg/cluster/clustertest", May: join(upToFloor5, []string{"pkg/testing/expect"})},
		{Floor: 5, Unit: "pkg/cluster", May: upToFloor4},

		{Floor: 6, Unit: "examples/*", May: upToFloor5},
		{Floor: 6, Unit: "hack", May: upToFloor5},
		// What only tests import.
		{Floor: 6, Unit: "pkg/internal/*", May: upToFloor5},
	}
}

// Bans returns what may not even be reached through other modules.
func Bans() []Ban {
	return []Ban{
		{
			Reach: "k8s.io/apiserver", Units: upToFloor3,
			Because: "the API server library brings some 800 packages; only pkg/emulator and what is above it may have them",
		},
		{
			Reach: "k8s.io/client-go", Units: pure,
			Because: "what is pure has no clients",
		},
		{
			Reach:   "k8s.io/kubernetes",
			Because: "it is not made to be imported",
		},
		{
			Reach: Module + "/generated/openapi", Units: clients,
			Because: "who has a client need not link the OpenAPI definitions of all of Kubernetes",
		},
	}
}

func join(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
