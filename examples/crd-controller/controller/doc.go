// Package controller runs TrainingRuns: it makes their gangs and their pods, and keeps the history of both.
//
// [NewManager] is the entry point: a manager of controller-runtime, one of several replicas of which leads.
//
// A run gets one Workload with two templates, "driver" and "workers", and a PodGroup of each. A member's pod is named by the
// number of the attempt, so that the one attempt is never made twice; and it has a finalizer until its end is written in the
// status of the run, so that the end is never missed, whoever deletes the pod. What has succeeded is not run again.
//
// What is decided is in status.go and objects.go, which are pure; reconciler.go reads and writes.
//
// It does not wait between attempts, resize a run, or suspend it.
package controller
