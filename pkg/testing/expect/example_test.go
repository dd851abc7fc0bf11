package expect_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/pkg/testing/expect"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

// A condition of one's own: the text is what the message of a test that waits in vain says, after "did not come to".
func ExampleThat() {
	suspended := expect.That("be suspended", func(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend })
	job := wrappers.MakeJob("training", "default").Obj()
	fmt.Println("to", suspended, suspended.Holds(job, true))
	job.Spec.Suspend = new(true)
	fmt.Println("to", suspended, suspended.Holds(job, true))
	// Output:
	// to be suspended false
	// to be suspended true
}

// An Example has no testing.T, so this runs what the one of Eventually shows.
func TestTheExampleOfEventually(t *testing.T) { aJobComesToItsEnd(t) }
