package job

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/features"
)

func TestOptionsHaveTheDefaultsOfTheBuiltInController(t *testing.T) {
	o := Options{}.withDefaults()
	assert.Equal(t, 5, o.Workers)
	assert.Equal(t, time.Second, o.SyncDelay)
	assert.Equal(t, batchv1.JobControllerName, o.ManagedBy)
	assert.Equal(t, limits{
		ignoredWait: true, podBackoff: 10 * time.Second, maxPodBackoff: 10 * time.Minute,
		uncounted: 500, podsPerSync: 500, heldRetry: 10 * time.Second, minRequeue: time.Second,
	}, o.limits())
	assert.NotNil(t, o.Clock)
	assert.Zero(t, Options{SyncDelay: -1}.withDefaults().SyncDelay)
}

func TestNewRefusesOptionsThatMakeNoSense(t *testing.T) {
	tests := map[string]struct {
		opts Options
		want string
	}{
		"negative workers":             {Options{Workers: -1}, "must not be negative"},
		"a negative back-off":          {Options{PodBackoff: -1}, "must not be negative"},
		"a manager without a domain":   {Options{ManagedBy: "queue"}, "domain-prefixed path"},
		"a gate without what it needs": {Options{Gates: features.KubernetesDefaults().With(features.WorkloadWithJob, true)}, "WorkloadWithJob needs GenericWorkload"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(&rest.Config{}, tc.opts)
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, err := New(nil, Options{})
	require.Error(t, err)
	_, err = New(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "/no/such/file"}}, Options{})
	require.Error(t, err)
}

func TestNewKeepsTheConfigAsItWas(t *testing.T) {
	config := &rest.Config{Host: "https://example.invalid"}
	_, err := New(config, Options{})
	require.NoError(t, err)
	assert.Equal(t, &rest.Config{Host: "https://example.invalid"}, config)
}

func TestRBACIsWhatTheControllerDoes(t *testing.T) {
	var role rbacv1.ClusterRole
	for document := range strings.SplitSeq(RBAC, "\n---\n") {
		var meta metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &meta))
		if meta.Kind == "ClusterRole" {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &role))
		}
	}
	got := map[string][]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			got[rule.APIGroups[0]+"/"+resource] = rule.Verbs
		}
	}
	assert.Equal(t, map[string][]string{
		"batch/jobs":                  {"get", "list", "watch"},
		"batch/jobs/status":           {"update"},
		"batch/jobs/finalizers":       {"update"},
		"/pods":                       {"list", "watch", "create", "patch", "delete"},
		"/events":                     {"create", "patch"},
		"scheduling.k8s.io/workloads": {"get", "list", "watch", "create", "delete"},
		"scheduling.k8s.io/podgroups": {"get", "list", "watch", "create", "patch", "delete"},
	}, got)
}
