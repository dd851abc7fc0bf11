package patches

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1fuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/endpoints/request"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

func TestMergePatchesThatAreStrategic(t *testing.T) {
	cases := map[string]struct {
		obj  runtime.Object
		body string
		want bool
	}{
		"a label":                           {&corev1.Pod{}, `{"metadata":{"labels":{"a":"b","c":null}}}`, true},
		"a number":                          {&batchv1.Job{}, `{"spec":{"parallelism":3,"suspend":null}}`, true},
		"a list without a key":              {&corev1.Pod{}, `{"status":{"phase":"Failed","containerStatuses":[{"name":"a","image":"b"}]}}`, true},
		"an object of its own form":         {&corev1.Pod{}, `{"status":{"startTime":"2026-01-01T00:00:00Z"}}`, true},
		"a list that strategies merge":      {&corev1.Pod{}, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, false},
		"finalizers, which they merge":      {&corev1.Pod{}, `{"metadata":{"finalizers":["a/b"]}}`, false},
		"the end of all finalizers":         {&corev1.Pod{}, `{"metadata":{"finalizers":null}}`, false},
		"an unknown field":                  {&corev1.Pod{}, `{"spec":{"unknown":1}}`, false},
		"a field newer than 1.36":           {&corev1.Pod{}, `{"spec":{"evictionResponders":[]}}`, false},
		"a field twice":                     {&corev1.Pod{}, `{"spec":{"nodeName":"a","nodeName":"b"}}`, false},
		"a value of another type":           {&corev1.Pod{}, `{"spec":{"nodeName":1}}`, false},
		"what would be a directive":         {&corev1.Pod{}, `{"metadata":{"labels":{"$patch":"replace"}}}`, false},
		"what would be one, escaped":        {&corev1.Pod{}, `{"metadata":{"labels":{"\u0024patch":"replace"}}}`, false},
		"what has a strategy of keys":       {&appsv1.Deployment{}, `{"spec":{"strategy":{"type":"Recreate"}}}`, false},
		"any JSON":                          {&appsv1.ControllerRevision{}, `{"data":{"a":1}}`, false},
		"managed fields":                    {&corev1.Pod{}, `{"metadata":{"managedFields":[{}]}}`, false},
		"a null in a list":                  {&corev1.Pod{}, `{"spec":{"containers":[null]}}`, false},
		"a null in what is in a list":       {&corev1.Pod{}, `{"status":{"containerStatuses":[{"name":"a","state":null}]}}`, false},
		"maps of maps":                      {&corev1.ConfigMap{}, `{"data":{"a":{}}}`, false},
		"one of these types, without lists": {&schedulingv1alpha2.PodGroup{}, `{"metadata":{"annotations":{"a":"1"},"uid":"x"}}`, true},
		"nothing":                           {&corev1.Pod{}, `{}`, true},
		"null":                              {&corev1.Pod{}, `null`, false},
		"another kind":                      {&corev1.Pod{}, `{"kind":"Job"}`, false},
		"no kind":                           {&corev1.Pod{}, `{"kind":null}`, false},
		"another version":                   {&corev1.Pod{}, `{"apiVersion":"v2"}`, false},
		"no object":                         {&corev1.Pod{}, `[]`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, isStrategic([]byte(tc.body), tc.obj))
		})
	}
}

// TestStrategicPatchesDoTheSame compares, on random objects, what becomes of them.
func TestStrategicPatchesDoTheSame(t *testing.T) {
	const seed, rounds = 1, 3000
	kinds := []func() runtime.Object{
		func() runtime.Object { return &corev1.Pod{} },
		func() runtime.Object { return &corev1.Node{} },
		func() runtime.Object { return &corev1.Service{} },
		func() runtime.Object { return &corev1.Secret{} },
		func() runtime.Object { return &batchv1.Job{} },
		func() runtime.Object { return &appsv1.StatefulSet{} },
		func() runtime.Object { return &schedulingv1alpha2.Workload{} },
		func() runtime.Object { return &schedulingv1alpha2.PodGroup{} },
	}
	random := rand.New(rand.NewPCG(seed, seed))
	fill := fuzzer.FuzzerFor(metav1fuzzer.Funcs, seededSource{random}, serializer.NewCodecFactory(runtime.NewScheme()))
	compared := 0
	for round := range rounds {
		empty := kinds[round%len(kinds)]
		before, like := empty(), empty()
		fill.Fill(before)
		fill.Fill(like)
		body := partOf(t, random, like)
		if !isStrategic(body, empty()) {
			continue
		}
		compared++
		stored, err := json.Marshal(before)
		require.NoError(t, err)
		merged, err := jsonpatch.MergePatch(stored, body)
		require.NoError(t, err)
		strategic, err := strategicpatch.StrategicMergePatch(stored, body, empty())
		require.NoError(t, err, "%s", body)
		want, got := empty(), empty()
		require.NoError(t, json.Unmarshal(merged, want))
		require.NoError(t, json.Unmarshal(strategic, got))
		require.True(t, equality.Semantic.DeepEqual(want, got), "%T: %s\nbefore %s\nmerged %s\nstrategic %s", want, body, stored, merged, strategic)
	}
	assert.Greater(t, compared, rounds/4)
}

type seededSource struct{ random *rand.Rand }

func (s seededSource) Int63() int64 { return s.random.Int64() }
func (seededSource) Seed(int64)     {}

// partOf returns a merge patch of a few random parts of an object, some of them to be deleted.
func partOf(t *testing.T, random *rand.Rand, obj runtime.Object) []byte {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	body, err := json.Marshal(pick(random, content, 0))
	require.NoError(t, err)
	return body
}

// pick returns a random part of a value: of objects, some fields.
func pick(random *rand.Rand, value any, depth int) any {
	object, ok := value.(map[string]any)
	if !ok {
		if random.IntN(4) == 0 && depth > 1 {
			return nil
		}
		return value
	}
	if depth > 1 && random.IntN(10) == 0 {
		return nil
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	picked := map[string]any{}
	for _, name := range names {
		if random.IntN(len(names)) < 2 {
			picked[name] = pick(random, object[name], depth+1)
		}
	}
	return picked
}

func TestOnlyTheLibraryHearsOfAnotherKindOfPatch(t *testing.T) {
	pods := func(info *request.RequestInfo) runtime.Object {
		if info.Resource != "pods" {
			return nil
		}
		return &corev1.Pod{}
	}
	const merge, strategic = "application/merge-patch+json", "application/strategic-merge-patch+json"
	for name, tc := range map[string]struct{ resource, kind, body, want string }{
		"a label":              {"pods", merge, `{"metadata":{"labels":{"a":"b"}}}`, strategic},
		"a list with keys":     {"pods", merge, `{"spec":{"containers":[]}}`, merge},
		"a broken body":        {"pods", merge, `{`, merge},
		"another kind":         {"others", merge, `{}`, merge},
		"a strategic patch":    {"pods", strategic, `{}`, strategic},
		"a list of operations": {"pods", "application/json-patch+json", `[]`, "application/json-patch+json"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			last := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Content-Type") })
			sent := newPatch(tc.kind, tc.resource, tc.body)
			Handler(NewShortcuts(pods).Handler(last), limit).ServeHTTP(httptest.NewRecorder(), sent)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.kind, sent.Header.Get("Content-Type"), "what was sent is left as it is")
		})
	}
}

func BenchmarkIsStrategic(b *testing.B) {
	body := fmt.Appendf(nil, `{"status":{"phase":"Succeeded","containerStatuses":[{"name":"c","image":"x","imageID":"","ready":false,"restartCount":0}]}}`)
	for b.Loop() {
		if !isStrategic(body, &corev1.Pod{}) {
			b.Fatal("it is")
		}
	}
}
