package progress

import (
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// State is how far everything has come.
type State struct {
	// Elapsed is the time since the start.
	Elapsed time.Duration
	// Jobs are the Jobs, and other pods that belong together, in the order in which they came up.
	Jobs []Job
	// NotReady are the names of the nodes that are not Ready.
	NotReady []string
}

// Job is how far one Job has come.
type Job struct {
	// Name is what it is called.
	Name string
	// Done is how many pods have succeeded, of Total; a Total of 0 is not known.
	Done, Total int
	// Ended says how it has ended, in a word; it is empty while the Job goes on. Failed says that this was no success.
	Ended  string
	Failed bool
	// Cells are the states of its pods: of an Indexed Job one for each index. [life.Gone] stands for a pod that is not there.
	Cells []life.State
}

// counts counts the pods that are there.
func (j Job) counts() life.Counts {
	counts := life.Counts{}
	for _, state := range j.Cells {
		if state != life.Gone {
			counts[state]++
		}
	}
	return counts
}
