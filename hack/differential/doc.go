// Package differential holds this library's rules for Workloads, PodGroups, Jobs and Pods against those of Kubernetes 1.36:
// what is filled in and dropped, what is refused and in which words, what is warned of.
//
// Its test starts two programs, oracle and hack/judge of the main module, and asks both about the same objects: thousands
// made at random, from valid to broken, to be created or to take the place of others. What they answer has to be the same,
// to the field, the type and the text of each error. The programs are two because k8s.io/kubernetes needs other versions
// of the libraries that the main module uses, which is also why this is a module of its own, and why the main module
// must never import k8s.io/kubernetes.
//
//	go test -timeout 30m ./...                 # 500 objects of each kind and operation
//	go test . -args -objects 20000 -seed 7     # more, and others
//
// The first build of the oracle compiles much of Kubernetes, which takes minutes.
package differential
