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
	"k8s.io/apimachinery/pkg/util/validation/field"
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
		opts      Options
		wantField string
		wantValue any
		want      string
	}{
		"metrics of queues for nobody": {
			Options{QueueMetrics: true}, "Options.QueueMetrics", "", "Options.QueueMetrics: Forbidden: there is no registry for them: set Options.Metrics",
		},
		"negative workers":         {Options{Workers: -1}, "Options.Workers", -1, "Options.Workers: Invalid value: -1: must not be negative"},
		"less than none uncounted": {Options{MaxUncounted: -2}, "Options.MaxUncounted", -2, "must not be negative"},
		"less than no pods":        {Options{MaxPodsPerSync: -3}, "Options.MaxPodsPerSync", -3, "must not be negative"},
		"a negative back-off":      {Options{PodBackoff: -1}, "Options.PodBackoff", time.Duration(-1), `Invalid value: "-1ns": must not be negative`},
		"a negative bound":         {Options{MaxPodBackoff: -1}, "Options.MaxPodBackoff", time.Duration(-1), "must not be negative"},
		"a negative retry":         {Options{RetryBackoff: -1}, "Options.RetryBackoff", time.Duration(-1), "must not be negative"},
		"a negative bound of it":   {Options{MaxRetryBackoff: -1}, "Options.MaxRetryBackoff", time.Duration(-1), "must not be negative"},
		"a negative time-out":      {Options{ExpectationTimeout: -1}, "Options.ExpectationTimeout", time.Duration(-1), "must not be negative"},
		"a back-off above its bound": {
			Options{PodBackoff: time.Minute, MaxPodBackoff: time.Second}, "Options.PodBackoff", time.Minute,
			`Options.PodBackoff: Invalid value: "1m0s": must not be more than MaxPodBackoff, which is 1s`,
		},
		"a retry above its bound": {
			Options{RetryBackoff: time.Minute, MaxRetryBackoff: time.Second}, "Options.RetryBackoff", time.Minute,
			"must not be more than MaxRetryBackoff, which is 1s",
		},
		"a manager without a domain": {Options{ManagedBy: "queue"}, "Options.ManagedBy", "queue", "domain-prefixed path"},
		"a fallback that is none": {
			Options{GangFallback: "Foo"}, "Options.GangFallback", GangFallback("Foo"),
			`Options.GangFallback: Unsupported value: "Foo": supported values: "Hold", "PlainPods"`,
		},
		"a fallback that Parity makes void": {Options{Parity: true, GangFallback: GangFallbackPlainPods}, "Options.GangFallback", GangFallbackPlainPods, "has no meaning with Parity"},
		"what ignored failures cannot be": {
			Options{IgnoredFailures: "Foo"}, "Options.IgnoredFailures", IgnoredFailures("Foo"), `supported values: "Backoff", "NoBackoff"`,
		},
		"a namespace that is none": {Options{Namespace: "A B"}, "Options.Namespace", "A B", "RFC 1123 label"},
		"a gate without what it needs": {
			Options{Gates: features.KubernetesDefaults().With(features.WorkloadWithJob, true)}, "Options.Gates",
			features.KubernetesDefaults().With(features.WorkloadWithJob, true).String(), "WorkloadWithJob needs GenericWorkload",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(&rest.Config{}, tc.opts)
			require.ErrorContains(t, err, "making a job controller: Options.")
			require.ErrorContains(t, err, tc.want)
			var fault *field.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tc.wantField, fault.Field)
			assert.Equal(t, tc.wantValue, fault.BadValue)
			require.Error(t, tc.opts.Validate())
		})
	}
	_, err := New(nil, Options{})
	require.Error(t, err)
	_, err = New(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "/no/such/file"}}, Options{})
	require.Error(t, err)
}

func TestNewNamesAllThatMakesNoSense(t *testing.T) {
	_, err := New(&rest.Config{}, Options{Workers: -1, MaxUncounted: -1, PodBackoff: -1, Namespace: "A"})
	for _, name := range []string{"Options.Workers: ", "Options.MaxUncounted: ", "Options.PodBackoff: ", "Options.Namespace: "} {
		require.ErrorContains(t, err, name)
	}
}

func TestNewTakesWhatMakesSense(t *testing.T) {
	require.NoError(t, Options{}.Validate())
	require.NoError(t, Options{SyncDelay: -1, ManagedBy: batchv1.JobControllerName, Namespace: "a", Parity: true}.Validate())
	low := Options{MaxPodBackoff: time.Second, MaxRetryBackoff: time.Millisecond}
	require.NoError(t, low.Validate())
	low = low.withDefaults()
	assert.Equal(t, time.Second, low.PodBackoff, "a low bound is a low start")
	assert.Equal(t, time.Millisecond, low.RetryBackoff)
	high := Options{PodBackoff: time.Hour, RetryBackoff: time.Hour}
	require.NoError(t, high.Validate())
	high = high.withDefaults()
	assert.Equal(t, time.Hour, high.MaxPodBackoff, "a high start is a high bound")
	assert.Equal(t, time.Hour, high.MaxRetryBackoff)
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
