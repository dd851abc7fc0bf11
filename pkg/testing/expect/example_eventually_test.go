package expect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/testing/expect"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

// aJobComesToItsEnd is a test on a cluster in this process, in real time.
func aJobComesToItsEnd(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Nodes: 2})
	jobs := c.Kube.BatchV1().Jobs("default")
	_, err := jobs.Create(t.Context(), wrappers.MakeJob("training", "default").Indexed(2).Obj(), metav1.CreateOptions{})
	require.NoError(t, err)

	// What is awaited is a condition of this package, or one made with That.
	finished := expect.Eventually(t, jobs, "training", expect.JobIs(batchv1.JobComplete))
	assert.EqualValues(t, 2, finished.Status.Succeeded)

	require.NoError(t, jobs.Delete(t.Context(), "training", metav1.DeleteOptions{}))
	expect.Eventually(t, jobs, "training", expect.Gone[*batchv1.Job]())
}

func ExampleEventually() {
	var t *testing.T // that of the test function which this stands in
	aJobComesToItsEnd(t)
}
