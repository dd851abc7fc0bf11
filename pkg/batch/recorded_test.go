package batch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/batch"
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
			Code     int
			Body     json.RawMessage
			Warnings []string
		}
	}
}

const (
	recordedUID  = "11111111-2222-3333-4444-555555555555"
	recordedTime = "2026-01-01T00:00:00Z"
)

// TestAgreesWithRecordedServer plays recorded requests through the functions that a server would call, and compares
// what it answered.
func TestAgreesWithRecordedServer(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"job-create", "job-update", "job-update-gates-off", "job-status"} {
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
	text = []byte(strings.NewReplacer("<uid>", recordedUID, "<time>", recordedTime, "<rv>", "5", "$NS", "ns", "<rand>", "abcde").
		Replace(string(text)))
	var cases []recordedCase
	require.NoError(t, json.Unmarshal(text, &cases))
	return cases
}

func playCase(t *testing.T, c recordedCase) {
	t.Helper()
	var stored []byte
	for _, step := range c.Steps {
		body := step.Request.Body
		if step.Request.Method == "PATCH" {
			require.Equal(t, "application/merge-patch+json", step.Request.ContentType)
			body = mergePatch(t, stored, body)
		}
		var kind metav1.TypeMeta
		require.NoError(t, json.Unmarshal(body, &kind))
		if kind.GroupVersionKind() != batchv1.SchemeGroupVersion.WithKind("Job") {
			continue // Refused before anything looks at the Job.
		}
		var job, old *batchv1.Job
		var errs field.ErrorList
		var warnings []string
		switch {
		case step.Request.Method == "POST":
			job, errs, warnings = create(t, body, recordedName(t, step.Response.Body))
		case strings.HasSuffix(step.Request.Path, "/status"):
			job, old = decode(t, body), decode(t, stored)
			batch.PrepareForStatusUpdate(job, old)
			errs = batch.ValidateStatusUpdate(job, old)
		default:
			job, old = decode(t, body), decode(t, stored)
			batch.PrepareForUpdate(job, old)
			errs = batch.ValidateUpdate(job, old, batch.Options{})
			warnings = batch.UpdateWarnings(job, old)
		}
		if step.Response.Code >= 300 {
			compareCauses(t, errs, step.Response.Body)
			continue
		}
		require.Empty(t, errs)
		compareWarnings(t, warnings, step.Response.Warnings)
		compareJobs(t, job, decode(t, step.Response.Body))
		stored = step.Response.Body
	}
}

func create(t *testing.T, body []byte, name string) (*batchv1.Job, field.ErrorList, []string) {
	t.Helper()
	job := decode(t, body)
	job.UID, job.Namespace, job.Name = recordedUID, "ns", name
	batch.DropDisabledFields(job, nil, features.Gates{})
	batch.PrepareForCreate(job)
	return job, batch.Validate(job, batch.Options{}), batch.Warnings(job)
}

// recordedName is the name of the object that an answer is about. It may have been generated.
func recordedName(t *testing.T, body []byte) string {
	t.Helper()
	var answer struct {
		Metadata struct{ Name string }
		Details  struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	return answer.Metadata.Name + answer.Details.Name
}

func decode(t *testing.T, text []byte) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	require.NoError(t, json.Unmarshal(text, job))
	batch.SetDefaults(job)
	return job
}

// mergePatch applies a JSON merge patch (RFC 7386).
func mergePatch(tb testing.TB, target, patch []byte) []byte {
	tb.Helper()
	var into, from any
	require.NoError(tb, json.Unmarshal(target, &into))
	require.NoError(tb, json.Unmarshal(patch, &from))
	text, err := json.Marshal(merged(into, from))
	require.NoError(tb, err)
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

func compareCauses(t *testing.T, errs field.ErrorList, body []byte) {
	t.Helper()
	var status metav1.Status
	require.NoError(t, json.Unmarshal(body, &status))
	require.NotNil(t, status.Details)
	want, got := []string{}, []string{}
	for _, cause := range status.Details.Causes {
		want = append(want, string(cause.Type)+" "+cause.Field+" "+printedObject.ReplaceAllString(cause.Message, "Invalid value: <object>: "))
	}
	for _, err := range errs {
		got = append(got, string(err.Type)+" "+err.Field+" "+printedObject.ReplaceAllString(err.ErrorBody(), "Invalid value: <object>: "))
	}
	require.Empty(t, cmp.Diff(want, got), "(-want +got)")
}

func compareWarnings(t *testing.T, got, headers []string) {
	t.Helper()
	var want []string
	for _, header := range headers {
		text := strings.TrimSuffix(strings.TrimPrefix(header, `299 - "`), `"`)
		if !strings.HasPrefix(text, "unknown field") {
			want = append(want, strings.ReplaceAll(text, `\"`, `"`))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Empty(t, cmp.Diff(want, got, cmpopts.EquateEmpty()), "(-want +got)")
}

func compareJobs(t *testing.T, got, want *batchv1.Job) {
	t.Helper()
	// Read back from storage, defaults apply once more.
	batch.SetDefaults(got)
	require.Empty(t, cmp.Diff(want.Spec, got.Spec, cmpopts.EquateEmpty()), "(-want +got)")
	require.Empty(t, cmp.Diff(want.Labels, got.Labels), "(-want +got)")
	require.Equal(t, want.Generation, got.Generation)
	require.Empty(t, cmp.Diff(want.Status, got.Status, cmpopts.EquateEmpty()), "(-want +got)")
}

// generatedCase is a call of Kubernetes 1.36.3's own defaulting, preparation and validation on a generated object, and
// what came of it.
type generatedCase struct {
	Op              string
	New, Old, Patch json.RawMessage
	Causes          [][3]string
	Warnings        []string
}

// TestAgreesWithKubernetes compares validation of generated Jobs, most of them wrong in one way or another.
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
			job := decode(t, c.New)
			batch.PrepareForCreate(job)
			errs, warnings = batch.Validate(job, batch.Options{}), batch.Warnings(job)
		case "update":
			job, old := decode(t, mergePatch(t, c.Old, c.Patch)), decode(t, c.Old)
			batch.PrepareForUpdate(job, old)
			errs, warnings = batch.ValidateUpdate(job, old, batch.Options{}), batch.UpdateWarnings(job, old)
		case "status":
			job, old := decode(t, mergePatch(t, c.Old, c.Patch)), decode(t, c.Old)
			batch.PrepareForStatusUpdate(job, old)
			errs = batch.ValidateStatusUpdate(job, old)
		}
		want, got := []string{}, []string{}
		for _, cause := range c.Causes {
			want = append(want, cause[0]+" "+cause[1]+" "+printedObject.ReplaceAllString(cause[2], "Invalid value: <object>: "))
		}
		for _, err := range errs {
			got = append(got, string(err.Type)+" "+err.Field+" "+printedObject.ReplaceAllString(err.ErrorBody(), "Invalid value: <object>: "))
		}
		sorted := cmpopts.SortSlices(strings.Compare)
		require.Empty(t, cmp.Diff(want, got, sorted), "case %d: %s of %s%s (-want +got)", i, c.Op, c.New, c.Patch)
		require.Empty(t, cmp.Diff(c.Warnings, warnings, sorted, cmpopts.EquateEmpty()), "case %d: warnings (-want +got)", i)
	}
}
