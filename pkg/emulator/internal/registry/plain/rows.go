package plain

import (
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// rows is the table of kinds.
func rows(c resource.Config) []row {
	opts := core.Options{Gates: c.Gates}
	return []row{
		endpoints(),
		limitRanges(),
		persistentVolumeClaims(),
		persistentVolumes(c.Clock),
		podTemplates(opts),
		replicationControllers(opts),
		resourceQuotas(),
		services(),

		controllerRevisions(),
		daemonSets(opts),
		deployments(opts),
		replicaSets(opts),
		statefulSets(opts),

		horizontalPodAutoscalers(),
		cronJobs(c.Gates),
		endpointSlices(),
		ingressClasses(),
		ingresses(),
		networkPolicies(),
		runtimeClasses(),
		podDisruptionBudgets(),
		deviceClasses(),
		resourceClaims(),
		resourceClaimTemplates(),
		resourceSlices(),
		storageClasses(),
	}
}
