package kubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestAddresses(t *testing.T) {
	a := newAddresses()
	pod := &corev1.Pod{}
	first, second := a.take(pod), a.take(pod)
	assert.Equal(t, "10.0.0.1", first)
	assert.Equal(t, "10.0.0.2", second)

	known := &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.0.0.3"}}
	assert.Equal(t, "10.0.0.3", a.take(known), "a pod keeps the address that it has")
	assert.Equal(t, "10.0.0.4", a.take(pod), "no address is given to two pods")

	a.release(first)
	a.last = 0
	assert.Equal(t, "10.0.0.1", a.take(pod), "an address that is free again is given again")
}

func TestNodeAddressIsTheSameEachTime(t *testing.T) {
	assert.Equal(t, nodeAddress("n1"), nodeAddress("n1"))
	assert.NotEqual(t, nodeAddress("n1"), nodeAddress("n2"))
}
