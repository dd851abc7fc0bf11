package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestCompareProgressPutsThePodThatIsLeastFarAlongFirst(t *testing.T) {
	unknown := makePod("unknown").running()
	unknown.Status.Phase = corev1.PodUnknown
	bound := makePod("bound")
	bound.Spec.NodeName = "n1"
	sidecar := makePod("sidecar").running()
	sidecar.Spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	sidecar.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "s", RestartCount: 1}}

	tests := map[string]struct{ first, second podWrapper }{
		"not on a node before on one":              {makePod("a"), bound},
		"pending before unknown":                   {bound, unknown},
		"unknown before running":                   {unknown, makePod("b").running()},
		"not ready before ready":                   {makePod("a").running(), makePod("b").ready(epoch)},
		"ready for a shorter time before longer":   {makePod("a").ready(at(5)), makePod("b").ready(at(1))},
		"ready since an unknown time before that":  {makePod("a").ready(time.Time{}), makePod("b").ready(at(5))},
		"more restarts before fewer":               {makePod("a").running().restarts(2), makePod("b").running().restarts(1)},
		"restarts of sidecars where others tie":    {sidecar, makePod("b").running()},
		"younger before older":                     {makePod("a").created(at(9)), makePod("b").created(at(1))},
		"the later name first where all else ties": {makePod("b"), makePod("a")},
		"node before readiness":                    {makePod("a").created(at(1)), bound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Negative(t, compareProgress(tc.first.Pod, tc.second.Pod))
			assert.Positive(t, compareProgress(tc.second.Pod, tc.first.Pod))
		})
	}
}

func TestPodsToRemoveKeepsTheBestPodOfAnIndex(t *testing.T) {
	s := takeSnapshot(makeJob().size(2, 2).indexed(),
		makePod("old").index(0).created(at(1)), makePod("ready").index(0).ready(at(9)), makePod("young").index(0).created(at(5)),
		makePod("only").index(1))
	assert.ElementsMatch(t, []string{"old", "young"}, names(podsToRemove(s, s.pods, 0)))
	assert.ElementsMatch(t, []string{"old", "young", "only"}, names(podsToRemove(s, s.pods, 3)), "then the least far along of the others")
}
