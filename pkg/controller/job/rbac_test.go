package job_test

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/emulator"
)

// applyManifest creates what the controller's manifest has, less the rules that without names by one of their resources.
func applyManifest(w *world, without string) {
	w.Helper()
	for document := range strings.SplitSeq(job.RBAC, "\n---\n") {
		var meta metav1.TypeMeta
		require.NoError(w, yaml.Unmarshal([]byte(document), &meta))
		var err error
		switch meta.Kind {
		case "Namespace":
			_, err = w.client.CoreV1().Namespaces().Create(w.Context(), read[corev1.Namespace](w.T, document), metav1.CreateOptions{})
		case "ServiceAccount":
			account := read[corev1.ServiceAccount](w.T, document)
			_, err = w.client.CoreV1().ServiceAccounts(account.Namespace).Create(w.Context(), account, metav1.CreateOptions{})
		case "ClusterRole":
			role := read[rbacv1.ClusterRole](w.T, document)
			before := len(role.Rules)
			role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, without) })
			assert.Equal(w, without != "", len(role.Rules) < before)
			_, err = w.client.RbacV1().ClusterRoles().Create(w.Context(), role, metav1.CreateOptions{})
		case "ClusterRoleBinding":
			_, err = w.client.RbacV1().ClusterRoleBindings().Create(w.Context(), read[rbacv1.ClusterRoleBinding](w.T, document), metav1.CreateOptions{})
		default:
			require.Fail(w, "the manifest has a kind that the test does not know", meta.Kind)
		}
		require.NoError(w, err)
	}
}

func read[T any](t *testing.T, document string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(document), object))
	return object
}

// runAsAccount runs the controller as the ServiceAccount of the manifest until the test ends, and returns a channel that
// gets what it was refused: method and resource.
func runAsAccount(w *world) <-chan string {
	w.Helper()
	config, err := w.server.ServiceAccountConfig(w.Context(), "muster-system", "muster-job-controller")
	require.NoError(w, err)
	refused := make(chan string, 1000)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusForbidden {
				select {
				case refused <- r.Method + " " + path.Base(r.URL.Path):
				default: // a controller that goes on trying
				}
			}
			return response, err
		})
	})
	w.runWith(config, quick())
	return refused
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestManifestIsEnough(t *testing.T) {
	w := newWorldWith(t, emulator.Options{RBAC: true})
	applyManifest(w, "")
	refused := runAsAccount(w)
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
			w := newWorldWith(t, emulator.Options{RBAC: true})
			applyManifest(w, without)
			refused := runAsAccount(w)
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
