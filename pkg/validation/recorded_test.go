package validation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// recorded is a request that was sent to a kube-apiserver 1.36.3, with what it answered.
type recorded struct {
	Name   string
	Gates  string               // "all", or "base": GenericWorkload alone
	Kind   string               // of the object
	Verb   string               // create, update, or status: an update of the subresource
	Object json.RawMessage      // as sent
	Old    json.RawMessage      // as stored before; for create nothing
	Causes []metav1.StatusCause // of a refusal, in order
	Stored json.RawMessage      // as answered, if the server took it
}

func (r *recorded) gates() features.Gates {
	if r.Gates == "base" {
		return features.KubernetesDefaults().With(features.GenericWorkload, true)
	}
	return features.Gates{}
}

// TestRecordedAnswers holds the rules against the answers of a real API server: the same faults in the same order and
// words, and the same spec where there is none.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var cases []recorded
		require.NoError(t, json.Unmarshal(text, &cases))
		require.NotEmpty(t, cases)
		for _, tc := range cases {
			t.Run(filepath.Base(file)+"/"+tc.Name, func(t *testing.T) {
				if tc.Kind == "Workload" {
					playWorkload(t, &tc)
				} else {
					playPodGroup(t, &tc)
				}
			})
		}
	}
}

func playWorkload(t *testing.T, tc *recorded) {
	t.Helper()
	workload := read[schedulingv1alpha2.Workload](t, tc.Object)
	var old *schedulingv1alpha2.Workload
	var faults field.ErrorList
	if tc.Verb == "create" {
		fillMetadata(&workload.ObjectMeta, nil)
		validation.DropDisabledWorkloadFields(workload, nil, tc.gates())
		faults = validation.ValidateWorkload(workload, tc.gates())
	} else {
		old = read[schedulingv1alpha2.Workload](t, tc.Old)
		fillMetadata(&workload.ObjectMeta, &old.ObjectMeta)
		validation.DropDisabledWorkloadFields(workload, old, tc.gates())
		faults = validation.ValidateWorkloadUpdate(workload, old, tc.gates())
	}
	assert.Empty(t, cmp.Diff(tc.Causes, causes(faults)), "(-recorded +got)")
	if tc.Stored != nil {
		stored := read[schedulingv1alpha2.Workload](t, tc.Stored)
		assert.Empty(t, cmp.Diff(stored.Spec, workload.Spec), "(-recorded +got)")
	}
}

func playPodGroup(t *testing.T, tc *recorded) {
	t.Helper()
	group := read[schedulingv1alpha2.PodGroup](t, tc.Object)
	schedulingv1alpha2.SetObjectDefaults_PodGroup(group)
	var faults field.ErrorList
	switch tc.Verb {
	case "create":
		fillMetadata(&group.ObjectMeta, nil)
		group.Status = schedulingv1alpha2.PodGroupStatus{}
		validation.DropDisabledPodGroupFields(group, nil, tc.gates())
		if tc.gates().Enabled(features.WorkloadAwarePreemption) && group.Spec.PriorityClassName == "" {
			group.Spec.Priority = new(int32(0)) // by admission, where there are no priority classes
		}
		faults = validation.ValidatePodGroup(group, tc.gates())
	case "update":
		old := read[schedulingv1alpha2.PodGroup](t, tc.Old)
		fillMetadata(&group.ObjectMeta, &old.ObjectMeta)
		group.Status = old.Status
		validation.DropDisabledPodGroupFields(group, old, tc.gates())
		faults = validation.ValidatePodGroupUpdate(group, old, tc.gates())
	case "status":
		old := read[schedulingv1alpha2.PodGroup](t, tc.Old)
		group.ObjectMeta, group.Spec = old.ObjectMeta, old.Spec
		validation.DropDisabledPodGroupStatusFields(group, old, tc.gates())
		faults = validation.ValidatePodGroupStatusUpdate(group, old, tc.gates())
	default:
		require.Fail(t, "unknown verb", tc.Verb)
	}
	assert.Empty(t, cmp.Diff(tc.Causes, causes(faults)), "(-recorded +got)")
	if tc.Stored != nil {
		stored := read[schedulingv1alpha2.PodGroup](t, tc.Stored)
		schedulingv1alpha2.SetObjectDefaults_PodGroup(group) // as on every read
		assert.Empty(t, cmp.Diff(stored.Spec, group.Spec), "(-recorded +got)")
		assert.Empty(t, cmp.Diff(stored.Status, group.Status), "(-recorded +got)")
	}
}

func read[T any](t *testing.T, text json.RawMessage) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, json.Unmarshal(text, object))
	return object
}

// fillMetadata adds what an API server adds to the metadata of a request before it validates.
func fillMetadata(meta, old *metav1.ObjectMeta) {
	meta.Namespace = "ns"
	if old == nil {
		return
	}
	meta.UID, meta.CreationTimestamp, meta.Generation = old.UID, old.CreationTimestamp, old.Generation
	if meta.ResourceVersion == "" {
		meta.ResourceVersion = old.ResourceVersion
	}
}

// The recordings have tokens where a server prints its own Go structs, and where a name ends at random.
var (
	printedObject = regexp.MustCompile(`Invalid value: (?:\{|\[\{).*?(?:\}|\}\]): `)
	randomEnding  = regexp.MustCompile(`(a{50,})[a-z0-9]{5}\b`)
)

// causes returns faults in the form in which a refusal lists them.
func causes(faults field.ErrorList) []metav1.StatusCause {
	var list []metav1.StatusCause
	for _, fault := range faults {
		message := printedObject.ReplaceAllString(fault.ErrorBody(), "Invalid value: <object>: ")
		message = randomEnding.ReplaceAllString(message, "$1<rand>")
		list = append(list, metav1.StatusCause{Type: metav1.CauseType(fault.Type), Message: message, Field: fault.Field})
	}
	return list
}
