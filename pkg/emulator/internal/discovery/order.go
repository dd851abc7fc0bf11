package discovery

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// groupPriorities is the order in which a kube-apiserver 1.36 lists the groups that are served here: the highest first.
var groupPriorities = map[string]int{
	"":                             18000,
	"apps":                         17800,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"admissionregistration.k8s.io": 16700,
	"apiextensions.k8s.io":         16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"resource.k8s.io":              16200,
}

// unknownPriority is that of any other group.
const unknownPriority = 1000

// Sort puts groups and versions into the order in which clients are to prefer them: by the priority of the group, then
// by name, and within a group the stable and the newer versions first.
func Sort(versions []schema.GroupVersion) {
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int {
		return cmp.Or(
			cmp.Compare(priority(b.Group), priority(a.Group)),
			cmp.Compare(a.Group, b.Group),
			version.CompareKubeAwareVersionStrings(b.Version, a.Version),
		)
	})
}

func priority(group string) int {
	if p, ok := groupPriorities[group]; ok {
		return p
	}
	return unknownPriority
}
