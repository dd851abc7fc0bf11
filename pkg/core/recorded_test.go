package core_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// recordedCase is a conversation with a kube-apiserver 1.36.3: requests and its answers. What differs from run to run
// is a token in angle brackets.
type recordedCase struct {
	ID    string
	Steps []struct {
		Request struct {
			Method, Path, ContentType string
			Body                      json.RawMessage
		}
		Response struct {
			Code int
			Body json.RawMessage
		}
	}
}

// TestAgreesWithRecordedServer plays recorded requests through the functions that a server would call, and compares
// what it answered. What admission alone decides (priorities, 403) is passed over.
func TestAgreesWithRecordedServer(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"pod-create", "pod-update", "pod-status", "pod-bind"} {
		for _, c := range loadCases(t, family) {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				playCase(t, c)
			})
		}
	}
}

func loadCases(t *testing.T, family string) []recordedCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", family+".json"))
	require.NoError(t, err)
	text = []byte(strings.NewReplacer("<uid>", "11111111-2222-3333-4444-555555555555", "<time>", "2026-01-01T00:00:00Z",
		"<rv>", "5", "$NS", "ns", "<rand>", "abcde").Replace(string(text)))
	var cases []recordedCase
	require.NoError(t, json.Unmarshal(text, &cases))
	return cases
}

func playCase(t *testing.T, c recordedCase) {
	t.Helper()
	var stored *corev1.Pod
	for _, step := range c.Steps {
		request, response := &step.Request, &step.Response
		switch {
		case request.Method == "GET":
			comparePods(t, stored, decode(t, response.Body))
		case response.Code == 403 || response.Code == 404:
		case strings.HasSuffix(request.Path, "/binding"):
			stored = playBinding(t, stored, request.Body, response.Body)
		default:
			pod, errs := playWrite(t, stored, request.Method, request.Path, request.Body)
			if response.Code >= 300 {
				compareCauses(t, errs, response.Body)
				continue
			}
			require.Empty(t, errs)
			want := decode(t, response.Body)
			comparePods(t, pod, want)
			stored = want
		}
	}
}

func playWrite(t *testing.T, stored *corev1.Pod, method, path string, body []byte) (*corev1.Pod, field.ErrorList) {
	t.Helper()
	if method == "POST" {
		pod := decode(t, body)
		pod.Namespace = "ns"
		core.PreparePodForCreate(pod, features.Gates{}, noon)
		return pod, core.ValidatePod(pod, core.Options{})
	}
	text, err := json.Marshal(stored)
	require.NoError(t, err)
	pod := decode(t, mergePatch(t, text, body))
	if strings.HasSuffix(path, "/status") {
		core.PreparePodForStatusUpdate(pod, stored, features.Gates{})
		return pod, core.ValidatePodStatusUpdate(pod, stored, core.Options{})
	}
	core.PreparePodForUpdate(pod, stored, features.Gates{})
	return pod, core.ValidatePodUpdate(pod, stored, core.Options{})
}

func playBinding(t *testing.T, stored *corev1.Pod, body, answer []byte) *corev1.Pod {
	t.Helper()
	binding := &corev1.Binding{}
	require.NoError(t, json.Unmarshal(body, binding))
	var status metav1.Status
	require.NoError(t, json.Unmarshal(answer, &status))
	if errs := core.ValidateBinding(binding); len(errs) > 0 {
		require.Equal(t, status.Message, errs.ToAggregate().Error())
		return stored
	}
	pod := stored.DeepCopy()
	if err := core.Bind(pod, binding, noon); err != nil {
		require.ErrorIs(t, err, core.ErrNotBindable)
		require.Equal(t, status.Message, `Operation cannot be fulfilled on pods/binding "`+stored.Name+`": `+err.Error())
		return stored
	}
	require.Equal(t, metav1.StatusSuccess, status.Status)
	return pod
}

func decode(t *testing.T, text []byte) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	require.NoError(t, json.Unmarshal(text, pod))
	core.SetPodDefaults(pod)
	return pod
}

// comparePods compares what is not the business of admission plugins.
func comparePods(t *testing.T, got, want *corev1.Pod) {
	t.Helper()
	ignored := cmp.Options{
		cmpopts.IgnoreFields(corev1.PodSpec{}, "Priority", "PreemptionPolicy", "Tolerations"),
		cmpopts.IgnoreFields(corev1.PodCondition{}, "LastTransitionTime"),
		cmpopts.EquateEmpty(),
	}
	require.Empty(t, cmp.Diff(want.Spec, got.Spec, ignored), "(-want +got)")
	require.Empty(t, cmp.Diff(want.Status, got.Status, ignored), "(-want +got)")
	require.Equal(t, want.Generation, got.Generation)
}

// mergePatch applies a JSON merge patch (RFC 7386).
func mergePatch(t *testing.T, target, patch []byte) []byte {
	t.Helper()
	var into, from any
	require.NoError(t, json.Unmarshal(target, &into))
	require.NoError(t, json.Unmarshal(patch, &from))
	text, err := json.Marshal(merged(into, from))
	require.NoError(t, err)
	return text
}

func merged(into, from any) any {
	fields, isObject := from.(map[string]any)
	if !isObject {
		return from
	}
	object, isObject := into.(map[string]any)
	if !isObject {
		object = map[string]any{}
	}
	for name, value := range fields {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = merged(object[name], value)
		}
	}
	return object
}

// printedObject is a whole object inside a message. How a server prints it follows its internal Go types.
var printedObject = regexp.MustCompile(`Invalid value: (?:\{|\[\{).*?(?:\}|\}\]): `)

func told(err *field.Error) string {
	return string(err.Type) + " " + err.Field + " " + plain(err.ErrorBody())
}

func plain(message string) string {
	return printedObject.ReplaceAllString(message, "Invalid value: <object>: ")
}

func compareCauses(t *testing.T, errs field.ErrorList, body []byte) {
	t.Helper()
	var status metav1.Status
	require.NoError(t, json.Unmarshal(body, &status))
	require.NotNil(t, status.Details)
	want, got := []string{}, []string{}
	for _, cause := range status.Details.Causes {
		want = append(want, string(cause.Type)+" "+cause.Field+" "+plain(cause.Message))
	}
	for _, err := range errs {
		got = append(got, told(err))
	}
	require.Empty(t, cmp.Diff(want, got), "(-want +got)")
}

// generatedCase is a call of Kubernetes 1.36.3's own defaulting, preparation and validation on a generated pod, and
// what came of it.
type generatedCase struct {
	Op              string
	New, Old, Patch json.RawMessage
	Causes          [][3]string
	Warnings        []string
}

// TestAgreesWithKubernetes compares validation of generated pods, most of them wrong in one way or another.
func TestAgreesWithKubernetes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "generated.json"))
	require.NoError(t, err)
	var cases []generatedCase
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	for i, c := range cases {
		var errs field.ErrorList
		var warnings []string
		switch c.Op {
		case "create":
			pod := decode(t, c.New)
			core.PreparePodForCreate(pod, features.Gates{}, noon)
			errs, warnings = core.ValidatePod(pod, core.Options{}), core.PodWarnings(pod)
		case "update":
			pod, old := decode(t, mergePatch(t, c.Old, c.Patch)), decode(t, c.Old)
			core.PreparePodForUpdate(pod, old, features.Gates{})
			errs = core.ValidatePodUpdate(pod, old, core.Options{})
		case "status":
			pod, old := decode(t, mergePatch(t, c.Old, c.Patch)), decode(t, c.Old)
			core.PreparePodForStatusUpdate(pod, old, features.Gates{})
			errs = core.ValidatePodStatusUpdate(pod, old, core.Options{})
		}
		want, got := []string{}, []string{}
		for _, cause := range c.Causes {
			want = append(want, cause[0]+" "+cause[1]+" "+plain(cause[2]))
		}
		for _, err := range errs {
			got = append(got, told(err))
		}
		sorted := cmpopts.SortSlices(strings.Compare)
		require.Empty(t, cmp.Diff(want, got, sorted), "case %d: %s of %s%s (-want +got)", i, c.Op, c.New, c.Patch)
		if c.Op == "create" {
			require.Empty(t, cmp.Diff(c.Warnings, warnings, sorted, cmpopts.EquateEmpty()), "case %d: warnings (-want +got)", i)
		}
	}
}
