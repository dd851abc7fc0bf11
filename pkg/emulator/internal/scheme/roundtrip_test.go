package scheme

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// roundTrips is how many random objects of each kind are sent around.
const roundTrips = 20

// served are the kinds that clients send and get.
func served() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersion][]string{
		corev1.SchemeGroupVersion: {
			"Binding", "ConfigMap", "Event", "Namespace", "Node", "Pod", "Secret", "ServiceAccount",
			"ConfigMapList", "EventList", "NamespaceList", "NodeList", "PodList", "SecretList", "ServiceAccountList",
		},
		admissionregistrationv1.SchemeGroupVersion: {
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
			"MutatingAdmissionPolicyList", "MutatingAdmissionPolicyBindingList", "MutatingWebhookConfigurationList",
			"ValidatingAdmissionPolicyList", "ValidatingAdmissionPolicyBindingList", "ValidatingWebhookConfigurationList",
		},
		batchv1.SchemeGroupVersion:            {"Job", "JobList"},
		coordinationv1.SchemeGroupVersion:     {"Lease", "LeaseList"},
		eventsv1.SchemeGroupVersion:           {"Event", "EventList"},
		policyv1.SchemeGroupVersion:           {"Eviction"},
		schedulingv1.SchemeGroupVersion:       {"PriorityClass", "PriorityClassList"},
		schedulingv1alpha2.SchemeGroupVersion: {"Workload", "WorkloadList", "PodGroup", "PodGroupList"},
	}
	var all []schema.GroupVersionKind
	for version, names := range kinds {
		for _, name := range names {
			all = append(all, version.WithKind(name))
		}
	}
	return all
}

// newFiller returns what fills objects at random, the same way in every run.
func newFiller(kind schema.GroupVersionKind) *randfill.Filler {
	own := func(serializer.CodecFactory) []any {
		return []any{
			// Values whose spelling stays what it is.
			func(q *resource.Quantity, c randfill.Continue) {
				*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
			},
			func(s *string, c randfill.Continue) { *s = word(c) },
			// Text is for the API's own objects; others are cut short.
			func(e *runtime.RawExtension, _ randfill.Continue) { *e = runtime.RawExtension{} },
			func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawString(`{"f:` + word(c) + `":{}}`) },
		}
	}
	seed := int64(0)
	for _, b := range []byte(kind.String()) {
		seed = seed*31 + int64(b)
	}
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, own), rand.NewSource(seed), New().Codecs).NumElements(0, 2).MaxDepth(12)
}

// word returns a text that some spelling of it might spoil.
func word(c randfill.Continue) string {
	words := []string{"a", "true", "null", "1", "1e3", "0x10", "- a", "a: b", "#", "'", `"`, "é", "\u2028", " a ", "a\nb", "a\tb", "<&>", "~", "2001-01-01", "", "=", "%"}
	return words[c.Intn(len(words))] + words[c.Intn(len(words))]
}

// TestRoundTrip sends random objects through each media type and back: nothing is lost or changed.
func TestRoundTrip(t *testing.T) {
	for _, kind := range served() {
		t.Run(kind.GroupVersion().String()+" "+kind.Kind, func(t *testing.T) {
			t.Parallel()
			filler := newFiller(kind)
			for range roundTrips {
				sent, err := New().New(kind)
				require.NoError(t, err)
				filler.Fill(sent)
				sent.GetObjectKind().SetGroupVersionKind(kind)
				for _, mediaType := range mediaTypes {
					got, _, err := New().Codecs.UniversalDeserializer().Decode(encode(t, mediaType, sent), nil, nil)
					require.NoError(t, err, mediaType)
					require.Empty(t, difference(sent, got), "%s (-sent +got)", mediaType)
				}
			}
		})
	}
}

// TestRoundTripWithDefaults does the same with the defaults and aliases that apply whenever an object is read: it is the
// same by which ever media type it came, and does not change when it is read once more.
func TestRoundTripWithDefaults(t *testing.T) {
	for _, kind := range served() {
		t.Run(kind.GroupVersion().String()+" "+kind.Kind, func(t *testing.T) {
			t.Parallel()
			filler := newFiller(kind)
			decoder := New().Codecs.DecoderToVersion(New().Codecs.UniversalDeserializer(), kind.GroupVersion())
			for range roundTrips {
				sent, err := New().New(kind)
				require.NoError(t, err)
				filler.Fill(sent)
				sent.GetObjectKind().SetGroupVersionKind(kind)
				var first runtime.Object
				for _, mediaType := range mediaTypes {
					got, _, err := decoder.Decode(encode(t, mediaType, sent), nil, nil)
					require.NoError(t, err, mediaType)
					if first == nil {
						first = got
					}
					require.Empty(t, difference(first, got), "%s (-%s +got)", mediaType, mediaTypes[0])
					again, _, err := decoder.Decode(encode(t, mediaType, got), nil, nil)
					require.NoError(t, err, mediaType)
					require.Empty(t, difference(got, again), "%s (-once +twice)", mediaType)
				}
			}
		})
	}
}

// TestEveryServedKindIsSentAround keeps the list of the two tests above complete.
func TestEveryServedKindIsSentAround(t *testing.T) {
	known := map[schema.GroupVersionKind]bool{}
	for _, kind := range served() {
		known[kind] = true
	}
	for kind := range New().AllKnownTypes() {
		single := schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: strings.TrimSuffix(kind.Kind, "List")}
		if known[single] {
			assert.True(t, known[kind], kind)
		}
	}
	assert.Len(t, known, len(served()))
}

var mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}

func encode(t *testing.T, mediaType string, obj runtime.Object) []byte {
	t.Helper()
	info, found := runtime.SerializerInfoForMediaType(New().Codecs.SupportedMediaTypes(), mediaType)
	require.True(t, found, mediaType)
	data, err := runtime.Encode(info.Serializer, obj)
	require.NoError(t, err)
	return data
}

// difference compares objects as the API does: what is empty is not there.
func difference(a, b runtime.Object) string {
	a, b = a.DeepCopyObject(), b.DeepCopyObject()
	a.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	b.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if equality.Semantic.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmp.Comparer(func(x, y metav1.FieldsV1) bool { return x.GetRawString() == y.GetRawString() }))
}
