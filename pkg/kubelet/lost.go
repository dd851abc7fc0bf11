package kubelet

// isLost says whether a node is out of reach.
func (k *Kubelet) isLost(node string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost[node]
}
