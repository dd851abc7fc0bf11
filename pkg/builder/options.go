package builder

// Options says how objects and names are made. The zero value suits a cluster in which nothing else makes Workloads
// for the same owners, and agrees with the built-in Job controller wherever that one works.
type Options struct {
	// BuiltInNames makes every name exactly as kube-controller-manager 1.36 does, also where the API server refuses it.
	// The default gives the same name wherever it is valid, and a shortened one with a hash where it is not.
	BuiltInNames bool

	// BasicGroup makes [FromJob] return, for a Job that is not eligible for a gang, a Workload whose one template has
	// the basic policy: its pods form a group but are placed one by one. The default is no Workload for such a Job.
	BasicGroup bool

	// PolicyOnly copies from a template to its PodGroup the scheduling policy alone, as the Job controller of 1.36 does.
	// The default copies constraints, resource claims, disruption mode, priority class and priority too, which is what
	// the API asks of controllers. The two differ only for a Workload that sets those fields, so never for FromJob's.
	PolicyOnly bool
}
