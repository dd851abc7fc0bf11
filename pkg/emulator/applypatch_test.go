package emulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// TestAppliedObjectsHoweverTheyAreWritten applies objects as plain JSON, and the same with a comment, which makes YAML of
// them. The answers have to be the same.
func TestAppliedObjectsHoweverTheyAreWritten(t *testing.T) {
	const (
		workloads = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads"
		workload  = `"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload"`
		template  = `{"name":"t","schedulingPolicy":{"gang":{"minCount":2}}}`
		stored    = `{` + workload + `,"metadata":{"name":"j","labels":{"a":"1"},"annotations":{"n":"x"}},"spec":{"podGroupTemplates":[` + template + `]}}`
		jobs      = "/apis/batch/v1/namespaces/default/jobs"
		job       = `"apiVersion":"batch/v1","kind":"Job"`
		pods      = `"template":{"metadata":{"labels":{"x":"y"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"}],"resources":{"requests":{"cpu":"100m"}}}]}}`
		storedJob = `{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":2,"backoffLimit":3,` + pods + `}}`
	)
	kinds := map[string]struct {
		path, object string
		bodies       []string
	}{
		"workloads": {workloads, stored, []string{
			`{` + workload + `,"metadata":{"name":"j","labels":{"b":"2"}}}`,
			`{` + workload + `,"metadata":{"name":"j","labels":{"a":"2"}}}`,
			`{` + workload + `,"metadata":{"name":"j","labels":{"a":"1"},"annotations":null},"spec":{"podGroupTemplates":[` + template + `]}}`,
			`{` + workload + `,"metadata":{"name":"j"},"spec":{"podGroupTemplates":[` + template + `,` + template + `]}}`,
			`{` + workload + `,"metadata":{"name":"j"},"spec":{"podGroupTemplates":[{"name":"u","schedulingPolicy":{"basic":{}}}]}}`,
			`{` + workload + `,"metadata":{"name":"j"},"spec":{"podGroupTemplates":[{"schedulingPolicy":{"basic":{}}}]}}`,
			`{` + workload + `,"metadata":{"name":"j"},"spec":{"unknown":1}}`,
			`{` + workload + `,"metadata":{"name":"j"},"spec":7}`,
			`{` + workload + `,"metadata":{"name":"j","labels":{"b":"2","b":"3"}}}`,
			`{` + workload + `,"metadata":{"name":"j","labels":{"b":2}}}`,
			`{` + workload + `,"metadata":{"name":"j","managedFields":[]}}`,
			`{` + workload + `,"metadata":{"name":"j","resourceVersion":"1"}}`,
			`{` + workload + `,"metadata":{"name":"j","uid":"other"}}`,
			`{` + workload + `,"metadata":{"name":"other"}}`,
			`{` + workload + `,"metadata":{"name":"j","namespace":"other"}}`,
			`{` + workload + `,"metadata":{"name":7}}`,
			`{` + workload + `,"metadata":{}}`,
			`{` + workload + `,"metadata":7}`,
			`{` + workload + `}`,
			`{"metadata":{"name":"j"}}`,
			`{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","metadata":{"name":"j"}}`,
			`{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"j"}}`,
			`{"apiVersion":7,"kind":"Workload","metadata":{"name":"j"}}`,
			`{` + workload + `,"metadata":{"name":"j"},"standsFor":"x"}`,
			`{` + workload + `,"metadata":{"name":"j"},"standsFor":{}}`,
			`{` + workload + `,"metadata":{"name":"j","labels":{"b":"a: b # c"}}}`,
			`{` + workload + `,"metadata":{"name":"j","annotations":{"b":"  a: b # c  ","yes":"no","<<":"1","1":"0x1f"}}}`,
			`{}`, `null`, `[]`, `7`,
		}},
		"jobs": {jobs, storedJob, []string{
			`{` + job + `,"metadata":{"name":"j"},"spec":{` + pods + `}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"suspend":true}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":3}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":-3}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":3.0}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":3e0}}`,
			`{` + job + `,"metadata":{"name":"j"},"spec":{"parallelism":99999999999999999999}}`,
			`{` + job + `,"metadata":{"name":"j"},"status":{"active":3}}`,
		}},
	}
	for name, kind := range kinds {
		for _, body := range kind.bodies {
			for _, options := range []string{"", "&force=true", "&fieldValidation=Strict", "&fieldValidation=Ignore", "&dryRun=All"} {
				t.Run(name+" "+options+" "+body, func(t *testing.T) {
					config := start(t, emulator.Options{}).Config()
					plain := appliedTo(t, config, kind.path, kind.object, body, options)
					commented := appliedTo(t, config, kind.path, kind.object, body+" # which only YAML has", options)
					assert.Equal(t, commented, plain)
				})
			}
		}
	}
}

// appliedTo returns the answers to an object that is applied to one that another manager owns, and to nothing.
func appliedTo(t *testing.T, config *rest.Config, path, object, body, options string) string {
	t.Helper()
	json := http.Header{"Content-Type": {"application/json"}}
	apply := http.Header{"Content-Type": {"application/apply-patch+yaml"}}
	var answers []string
	for _, before := range []string{object, ""} {
		if before != "" {
			code, _, answer := raw(t, config, http.MethodPost, path+"?fieldManager=other", object, json)
			require.Equal(t, http.StatusCreated, code, answer)
		}
		for _, manager := range []string{"m", "kubectl"} {
			code, header, answer := raw(t, config, http.MethodPatch, path+"/j?fieldManager="+manager+options, body, apply)
			answers = append(answers, http.StatusText(code), strings.Join(header.Values("Warning"), "\n"), changing.ReplaceAllString(answer, "…"))
		}
		raw(t, config, http.MethodDelete, path+"/j", `{"propagationPolicy":"Background"}`, json)
		raw(t, config, http.MethodPatch, path+"/j", `{"metadata":{"finalizers":null}}`, http.Header{"Content-Type": {"application/merge-patch+json"}})
	}
	return strings.Join(answers, "\n")
}
