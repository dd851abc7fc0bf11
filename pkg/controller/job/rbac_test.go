package job_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/internal/rbactest"
)

// runAsAccount runs the controller as the ServiceAccount of its manifest, less the rules of a resource, until the test ends,
// and returns what it is refused.
func runAsAccount(t *testing.T, without string) (w *world, refused <-chan string) {
	t.Helper()
	w = newWorldWith(t, emulator.Options{RBAC: true})
	rbactest.Apply(t, w.server, job.RBAC, without)
	account := rbactest.As(t, w.server, "muster-job-controller")
	w.runWith(account.Config, quick())
	return w, account.Refused
}

func TestManifestIsEnough(t *testing.T) {
	w, refused := runAsAccount(t, "")
	w.create(newJob("j", nil))
	w.succeed(w.awaitActive(1)...)
	w.awaitCondition("j", batchv1.JobComplete)
	w.awaitEvent("j", "Normal Completed")
	assert.Empty(t, refused)
}

func TestEachRuleOfTheManifestIsNeeded(t *testing.T) {
	for without, want := range map[string]string{
		"jobs":        "GET jobs",
		"jobs/status": "PUT status",
		"pods":        "GET pods",
		"events":      "POST events",
		"workloads":   "GET workloads",
		"podgroups":   "GET podgroups",
	} {
		t.Run(without, func(t *testing.T) {
			w, refused := runAsAccount(t, without)
			w.create(newJob("j", nil))
			select {
			case got := <-refused:
				assert.Equal(t, want, got)
			case <-w.Context().Done():
				require.Fail(t, "nothing was refused")
			}
		})
	}
}
