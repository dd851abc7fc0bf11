// Package gc deletes what deleted owners leave behind, as the garbage collector of kube-controller-manager does.
//
// [Collector] is fed with every stored object by package objects and keeps the graph of owner references in memory. An
// event says which objects to look at (graph.go); what is to become of one of them is decided on the graph alone
// (decide.go); the decision is carried out through the API (act.go), so that admission, finalizers and validation have
// their say. Before an object is deleted for want of an owner, the owner is looked up live, unless it was seen to go.
//
// All three policies of deletion work: background (dependents go after the owner), foreground (the owner goes after
// those dependents that block its deletion) and orphan (the dependents stay, without the reference). Owners that are in
// another namespace do not count. Events are not collected: they expire by themselves.
package gc
