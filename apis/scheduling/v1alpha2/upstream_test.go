package v1alpha2_test

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// deviations are the facts in which this package means to differ from k8s.io/api v0.36.6: what it has more, and what it
// has instead of something there.
var deviations = struct{ more, less []string }{
	more: []string{
		// Defaults are generated here, not in k8s.io/kubernetes.
		"package\t+k8s:defaulter-gen=TypeMeta",
		// The OpenAPI model package must spell the Go import path, or apply configurations find no schema.
		"package\t+k8s:openapi-model-package=com.github.musterkube.muster.apis.scheduling.v1alpha2",
		// validation-gen 0.37 would generate rules for metadata and conditions, which 1.36 does not have.
		"marker\tPodGroup.TypeMeta\t+k8s:opaqueType",
		"marker\tPodGroup.ObjectMeta\t+k8s:opaqueType",
		"marker\tPodGroupStatus.Conditions\t+k8s:eachVal=+k8s:opaqueType",
		"marker\tWorkload.TypeMeta\t+k8s:opaqueType",
		"marker\tWorkload.ObjectMeta\t+k8s:opaqueType",
	},
	less: []string{
		"package\t+k8s:openapi-model-package=io.k8s.api.scheduling.v1alpha2",
	},
}

// TestTypesAgreeWithUpstream holds every type, field, tag, marker and constant to testdata/facts.tsv, which lists those of
// k8s.io/api v0.36.6.
func TestTypesAgreeWithUpstream(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "facts.tsv"))
	require.NoError(t, err)
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")

	got, err := facts(".", schedulingv1alpha2.Workload{}, schedulingv1alpha2.WorkloadList{},
		schedulingv1alpha2.PodGroup{}, schedulingv1alpha2.PodGroupList{})
	require.NoError(t, err)

	assert.Subset(t, got, deviations.more, "a deviation that no longer is one")
	assert.Subset(t, want, deviations.less, "a deviation that no longer is one")
	if diff := cmp.Diff(without(want, deviations.less), without(got, deviations.more)); diff != "" {
		t.Errorf("facts differ from k8s.io/api v0.36.6 (-upstream +here):\n%s", diff)
	}
}

func without(lines, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(taken, line) })
}

// TestWireFormAgreesWithUpstream encodes objects that have every field set, and wants byte for byte what k8s.io/api
// v0.36.6 encodes, as JSON, YAML and protobuf; then it decodes those bytes and wants the objects back.
func TestWireFormAgreesWithUpstream(t *testing.T) {
	scheme := newScheme(t)
	options := roundtrip.NewCompatibilityTestOptions(scheme)
	options.TestDataDirCurrentVersion = filepath.Join("testdata", "kubernetes-1.36")
	options.Kinds = []schema.GroupVersionKind{
		schedulingv1alpha2.SchemeGroupVersion.WithKind("PodGroup"),
		schedulingv1alpha2.SchemeGroupVersion.WithKind("Workload"),
	}
	options.Complete(t).Run(t)
}

// TestRandomObjectsSurviveEncoding encodes and decodes objects with random content, in every media type that an
// API server speaks.
func TestRandomObjectsSurviveEncoding(t *testing.T) {
	scheme := runtime.NewScheme()
	// Without defaults, so that what is unset stays unset.
	scheme.AddKnownTypes(schedulingv1alpha2.SchemeGroupVersion,
		&schedulingv1alpha2.Workload{}, &schedulingv1alpha2.WorkloadList{},
		&schedulingv1alpha2.PodGroup{}, &schedulingv1alpha2.PodGroupList{})
	codecs := serializer.NewCodecFactory(scheme)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)

	for kind := range scheme.KnownTypes(schedulingv1alpha2.SchemeGroupVersion) {
		gvk := schedulingv1alpha2.SchemeGroupVersion.WithKind(kind)
		t.Run(kind, func(t *testing.T) {
			for _, media := range codecs.SupportedMediaTypes() {
				codec := codecs.CodecForVersions(media.Serializer, media.Serializer, gvk.GroupVersion(), gvk.GroupVersion())
				for range 50 {
					object, err := scheme.New(gvk)
					require.NoError(t, err)
					filler.Fill(object)
					object.GetObjectKind().SetGroupVersionKind(gvk)
					assertSurvives(t, codec, object)
				}
			}
		})
	}
}

func assertSurvives(t *testing.T, codec runtime.Codec, object runtime.Object) {
	t.Helper()
	var encoded bytes.Buffer
	require.NoError(t, codec.Encode(object, &encoded))
	decoded, err := runtime.Decode(codec, encoded.Bytes())
	require.NoError(t, err)
	decoded.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	if diff := cmp.Diff(object, decoded, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("changed on the way (-before +after):\n%s", diff)
	}
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, schedulingv1alpha2.AddToScheme(scheme))
	return scheme
}
