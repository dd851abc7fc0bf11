package cluster_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/kubelet"
)

// TestTheSameScriptGivesTheSame lives through the same twice, and wants every object to be the same to the second, but for
// names, UIDs and addresses that are made up.
func TestTheSameScriptGivesTheSame(t *testing.T) {
	for name, tc := range map[string]struct {
		options func() cluster.Options
		live    func(t *testing.T, c *clustertest.Cluster)
	}{
		"a day": {dayOptions, func(t *testing.T, c *clustertest.Cluster) {
			t.Helper()
			liveADay(t, c)
		}},
		"a crowd": {crowdOptions, liveInACrowd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first []string
			for range 2 {
				var all []string
				clustertest.Run(t, tc.options(), func(t *testing.T, c *clustertest.Cluster) {
					tc.live(t, c)
					all = everything(t, c)
				})
				require.NotEmpty(t, all)
				if first == nil {
					first = all
				}
				assert.Empty(t, gocmp.Diff(first, all), "(-first +second)")
			}
		})
	}
}

func crowdOptions() cluster.Options {
	return cluster.Options{
		Nodes: 3,
		Script: kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
			outcome := kubelet.Outcome{Duration: time.Duration(1+len(a.Job)%3) * time.Minute}
			if a.Index == 1 && a.Number == 1 {
				outcome.ExitCode = 1
			}
			return outcome
		}),
	}
}

// liveInACrowd has more Jobs than there is room for, all at once, of which some pods fail.
func liveInACrowd(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for i := range 12 {
		var j *batchv1.Job
		switch size := int32(2 + i%4); i % 3 {
		case 0:
			j = newGangJob(fmt.Sprintf("gang-%d", i), size)
		case 1:
			j = newGangJob(fmt.Sprintf("an-indexed-one-%d", i), size)
			j.Spec.Parallelism = new(size - 1)
		default:
			j = newJob(fmt.Sprintf("plain-%d", i), func(spec *batchv1.JobSpec) {
				spec.Parallelism, spec.Completions = &size, &size
				spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
			})
		}
		createJob(t, c.Kube, j)
	}
	c.Advance(4 * time.Minute)
	suspend(t, c.Kube, "gang-0", true)
	c.Advance(time.Minute)
	suspend(t, c.Kube, "gang-0", false)
	c.Advance(30 * time.Minute)
}

var (
	anyUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	fraction = regexp.MustCompile(`(T\d\d:\d\d:\d\d)\.\d+Z`)
	madeUp   = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b`) // no vowels, so no words
	address  = regexp.MustCompile(`10\.0\.\d+\.\d+`)                        // of a pod; they are given out as pods come
	revision = regexp.MustCompile(`"resourceVersion":"\d+"`)
)

// everything returns every object that the server has as text, sorted.
func everything(t *testing.T, c *clustertest.Cluster) []string {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	require.NoError(t, err)
	_, lists, err := c.Kube.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	var objects []unstructured.Unstructured
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, r := range list.APIResources {
			found, err := client.Resource(version.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			objects = append(objects, found.Items...)
		}
	}
	all := make([]string, 0, len(objects))
	for i := range objects {
		if objects[i].GetKind() == "Event" {
			objects[i].SetName("<event>")
		}
		text, err := json.Marshal(objects[i].Object)
		require.NoError(t, err)
		plain := string(text)
		for _, r := range []struct {
			what *regexp.Regexp
			by   string
		}{{anyUID, "<uid>"}, {madeUp, "-<random>"}, {address, "<address>"}, {fraction, "$1.0Z"}, {revision, `"resourceVersion":""`}} {
			plain = r.what.ReplaceAllString(plain, r.by)
		}
		all = append(all, plain)
	}
	slices.Sort(all)
	return all
}
