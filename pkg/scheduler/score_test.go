package scheduler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// TestScore has numbers worked out by hand from the formulas that kube-scheduler documents.
func TestScore(t *testing.T) {
	for name, tc := range map[string]struct {
		node *nodeWrapper
		on   []*podWrapper
		pod  *podWrapper
		want int64
	}{
		// Free: CPU 50, memory 100*(64Gi-200Mi)/64Gi = 99, mean 74. Balance: 100 before, 75 after, so 50+(50-25)/2 = 62.
		"half the CPU": {node: makeNode("n", "2"), pod: makePod("p", "1"), want: 74 + 62},
		// Free: CPU 50, memory 50. Balance: 100 before and after, 75.
		"half of both": {node: makeNode("n", "2"), pod: makePod("p", "1").Request(corev1.ResourceMemory, "32Gi"), want: 50 + 75},
		// Free as above. Balance: from 75 to 100, 50+(50+25)/2 = 87.
		"what evens it out": {
			node: makeNode("n", "4").Allocatable(corev1.ResourceMemory, "64Gi"),
			on:   []*podWrapper{makePod("o", "2").Request(corev1.ResourceMemory, "0")},
			pod:  makePod("p", "0").Request(corev1.ResourceMemory, "32Gi"),
			want: 50 + 87,
		},
		// A pod that asks for nothing counts as 100m and 200Mi: CPU 90, memory 80, and no balance.
		"nothing": {
			node: makeNode("n", "1").Allocatable(corev1.ResourceMemory, "1000Mi"),
			pod:  &podWrapper{corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}}, want: 85,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(Options{}.policy())
			c.setNode(tc.node.Obj())
			for _, pod := range tc.on {
				c.setPod(pod.On("n").Obj())
			}
			assert.Equal(t, tc.want, score(newPodInfo(tc.pod.Obj(), true), c.nodes["n"]))
		})
	}
}
