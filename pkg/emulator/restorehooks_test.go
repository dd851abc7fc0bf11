package emulator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/emulator"
)

// A policy comes and goes with the state of the server: what is restored holds for the very next request.
func TestPoliciesFollowARestore(t *testing.T) {
	for name, set := range map[string]func(*emulator.Server, *emulator.Snapshot) error{
		"restore": (*emulator.Server).Restore, "rewind": (*emulator.Server).Rewind,
	} {
		t.Run(name, func(t *testing.T) {
			server := start(t, emulator.Options{})
			client := kube(t, server.Config())
			without, err := server.Snapshot()
			require.NoError(t, err)
			_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policyOf(expression("false")), metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), bind(admissionregistrationv1.Deny), metav1.CreateOptions{})
			require.NoError(t, err)
			with, err := server.Snapshot()
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, set(server, without))
				_, err := tryConfigMap(t, client, makeConfigMap("a"))
				assert.NoError(t, err)
				require.NoError(t, set(server, with))
				_, err = tryConfigMap(t, client, makeConfigMap("b"))
				assert.ErrorContains(t, err, "denied request")
			}
		})
	}
}
