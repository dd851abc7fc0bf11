package podgc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/controller/podgc"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/internal/rbactest"
)

// TestManifestIsEnoughAndNotMore has the collector do all that it does as the ServiceAccount of its manifest.
func TestManifestIsEnoughAndNotMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{RBAC: true})
		require.NoError(t, err)
		defer server.Stop()
		rbactest.Apply(t, server, podgc.RBAC, "")
		account := rbactest.As(t, server, "muster-pod-garbage-collector")
		runBeside(t, server, account.Config, podgc.Options{}, func(w *world) {
			w.pod("orphan", "gone")
			pass(2 * time.Minute)
			assert.NotNil(t, w.get("orphan").DeletionTimestamp)
		})
		assert.Empty(t, account.Refused)
		assert.Equal(t, rbactest.Rights(t, podgc.RBAC), account.Used())
	})
}
