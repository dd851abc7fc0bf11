// Package wrappers makes Kubernetes objects for tests in a line: Jobs, Pods, Nodes, Workloads and PodGroups.
//
// Each kind has a Make function that returns an object which an API server takes as it is, with nothing in it that a test
// has not asked for. Methods change it and return it, and Obj hands it over:
//
//	job := wrappers.MakeJob("training", "default").Indexed(4).Request("cpu", "2").Obj()
//	pod := wrappers.MakePod("worker-0", "default").Group("workers").Node("node-1").Phase(corev1.PodRunning).Obj()
//	group := wrappers.MakePodGroup("workers", "default").Of("training", "workers").Gang(4).Obj()
//
// For what has no method there is Do, which hands the object to a function. Clone makes a copy to go on from, so that a
// table can share its beginnings.
//
// The package is called as those who test Kubernetes' schedulers call these: "wrappers" are in wrappers.go of
// kube-scheduler's testing package and in those of Kueue, with the same Make and Obj.
//
// # What it does not do
//
// Nothing is checked, and nothing has the defaults of an API server, unless the methods say so: an object for a pure function
// goes through pkg/core, pkg/batch or pkg/validation first, as one for a real cluster goes through the server. There are no
// lists, and no clients; see pkg/testing/expect for what to wait for.
package wrappers
