// Package node serves core/v1 Nodes and their status. [New] is its entry point. Nodes are stored and selected; no
// request is passed on to a kubelet.
package node
