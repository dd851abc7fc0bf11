// Package priorityclass serves scheduling.k8s.io/v1 PriorityClasses. [New] is its entry point; [SystemClasses] are those
// that every cluster has.
package priorityclass
