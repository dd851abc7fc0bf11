// Package metadata holds the rules of object metadata as kube-apiserver 1.36 words them, for every kind of this module:
// [Validate] judges an object that is to be created, [ValidateUpdate] one that is to take the place of another.
//
// The rules are those of k8s.io/apimachinery. Two things are done to what it answers: [As136] puts back what newer
// versions word otherwise, and errors about maps get an order, that of the keys ([ValidateLabels],
// [ValidateAnnotations]); Kubernetes lists them as it meets them in a walk through the map, which is never the same twice.
//
// Names of kinds are not judged here: a rule for them is an argument.
package metadata
