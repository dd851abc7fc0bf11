// Package batch says what a batch/v1 Job means, as pure functions: no client, no clock, no state.
//
// For those who serve Jobs, or want to know beforehand what a server would say: [SetDefaults], [PrepareForCreate] and
// its kin, [Validate], [ValidateUpdate], [ValidateStatusUpdate] and [Warnings] do what an API server of Kubernetes
// 1.36 does, with its paths, types, wording and order.
//
// For those who run Jobs: [IndexSet] and the ways to read and print one, [MatchFailurePolicy] and
// [MatchSuccessPolicy], [PodFailed], [CompletionIndex], [ManagedByOther].
//
// For those who watch Jobs, or speak for them because spec.managedBy names them (KEP-4368): [Finished], [Condition],
// [FinishTime], and the steps that a status may take: [Start], [Suspend], [Resume], [SuccessCriteriaMet],
// [FailureTarget], [Complete], [Fail]. A step from a status that a server accepted leads to one that it accepts.
//
// It does not make pods or decide when a Job is done: package controller/job does. It does not know CronJobs. Fields
// of the Job that came with Kubernetes 1.37 (spec.scheduling) are neither defaulted nor validated.
package batch
