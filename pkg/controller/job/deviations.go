package job

// Deviation is a point at which this controller does otherwise, and better, than the Job controller of Kubernetes 1.36.
// [Options].Parity switches all of them off.
type Deviation struct {
	// Name is what the code calls it.
	Name string
	// BuiltIn says what the Job controller of Kubernetes 1.36 does, Here what this one does.
	BuiltIn, Here string
}

// Deviations lists every point at which a controller without [Options].Parity deviates from the built-in one.
func Deviations() []Deviation {
	var all []Deviation
	for _, row := range deviationTable() {
		all = append(all, row.Deviation)
	}
	return all
}

// deviations are the switches, one for each [Deviation].
type deviations struct {
	validNames      bool
	wholeTemplate   bool
	gangChoice      bool
	gangRestored    bool
	gangAtResume    bool
	gangRetries     bool
	servedAPI       bool
	outcomeFirst    bool
	ownQueue        bool
	firstVerdict    bool
	fairRequests    bool
	tellsWhyItWaits bool
}

type deviationRow struct {
	Deviation
	on func(*deviations)
}

// deviationsOf returns the switches for a controller with or without parity.
func deviationsOf(parity bool) deviations {
	var d deviations
	if parity {
		return d
	}
	for _, row := range deviationTable() {
		row.on(&d)
	}
	return d
}

// deviationTable is the one place that says what deviates, and how.
func deviationTable() []deviationRow {
	return append(gangDeviations(), syncDeviations()...)
}

// gangDeviations are about Workloads and PodGroups.
func gangDeviations() []deviationRow {
	return []deviationRow{
		{
			Deviation{
				"ValidNames",
				"A gang Job whose name has 58 characters or more, or a dot, gets a Workload that the API server refuses: its pods never start.",
				"Names of Workloads, templates and PodGroups are shortened, with a hash, where they would be refused.",
			}, func(d *deviations) { d.validNames = true },
		},
		{
			Deviation{
				"WholeTemplate",
				"The PodGroup gets no more than the scheduling policy of its template.",
				"It gets constraints, resource claims, disruption mode and priority too.",
			}, func(d *deviations) { d.wholeTemplate = true },
		},
		{
			Deviation{
				"GangChoice",
				"A Workload or PodGroup that a user made for the Job, or that a deleted Job of the same name left, silently switches the gang off.",
				"The Job's own objects come first, then a single one that the user made for it; those of another owner never count. Where the choice is not clear, an event and the condition GangHeld say so, and Options.GangFallback says what becomes of the pods.",
			}, func(d *deviations) { d.gangChoice = true },
		},
		{
			Deviation{
				"GangRestored",
				"When a user deletes the Workload of a running gang, later pods have no group.",
				"Workload and PodGroup are made again once they are gone; until then pods keep naming them, and an event says so.",
			}, func(d *deviations) { d.gangRestored = true },
		},
		{
			Deviation{
				"GangAtResume",
				"The objects of a suspended Job are made while it is suspended, which freezes its parallelism, or never if it was suspended before the controller saw it.",
				"They are made when the Job is resumed, from what it says then.",
			}, func(d *deviations) { d.gangAtResume = true },
		},
		{
			Deviation{
				"GangRetries",
				"Once one index of a gang has succeeded, the pod that retries another is never scheduled: it alone is no quorum.",
				"The number of finished indexes is written on the PodGroup, where this module's scheduler counts it towards the quorum.",
			}, func(d *deviations) { d.gangRetries = true },
		},
		{
			Deviation{
				"ServedAPI",
				"Where scheduling.k8s.io/v1alpha2 is not served, no Job ever runs and nothing says why.",
				"Run returns ErrNotServed.",
			}, func(d *deviations) { d.servedAPI = true },
		},
	}
}

// syncDeviations are about pods, their counts, and the pace.
func syncDeviations() []deviationRow {
	return []deviationRow{
		{
			Deviation{
				"OutcomeFirst",
				"Pods of a Job that has an outcome are deleted before the status says which: a controller that is stopped in between may take them for failures and end the Job otherwise.",
				"The outcome is stored first, and pods that a success has stopped are not counted as failed.",
			}, func(d *deviations) { d.outcomeFirst = true },
		},
		{
			Deviation{
				"OwnQueue",
				"A Job that is made again under the name of a deleted one waits until the requests for that one have been answered.",
				"Each Job is synced on its own, by UID.",
			}, func(d *deviations) { d.ownQueue = true },
		},
		{
			Deviation{
				"FirstVerdict",
				"A pod that is reported as succeeded and later as failed is listed under both, which the API server refuses, so that the Job never goes on; or it is counted twice.",
				"It is counted once, as what it was first.",
			}, func(d *deviations) { d.firstVerdict = true },
		},
		{
			Deviation{
				"FairRequests",
				"A sync sends hundreds of requests at a time, so that where the client is throttled all other Jobs wait behind a big one.",
				"No more than 8 requests of one sync are under way at a time.",
			}, func(d *deviations) { d.fairRequests = true },
		},
		{
			Deviation{
				"TellsWhyItWaits",
				"Nothing says why a Job does nothing: a Workload that cannot be made, a back-off, pods that must end first, a gang that finds no room, another controller's Job.",
				"An event says so, once for each reason.",
			}, func(d *deviations) { d.tellsWhyItWaits = true },
		},
	}
}
