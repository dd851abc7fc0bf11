package emulator_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// TestMergePatchesHoweverTheyAreApplied sends merge patches as they are, and with the kind and version of the object,
// which has them applied to JSON in any case. The answers have to be the same.
func TestMergePatchesHoweverTheyAreApplied(t *testing.T) {
	const (
		job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","labels":{"a":"1","b":"2"},"annotations":{"n":"x"}},"spec":{"parallelism":2,` +
			`"template":{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":5,"containers":[{"name":"c","image":"i"}]}}}}`
		group = `{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"j","labels":{"a":"1"}},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`
	)
	kinds := map[string]struct {
		path, object, typed string
		bodies              []string
	}{
		"jobs": {"/apis/batch/v1/namespaces/default/jobs", job, `"apiVersion":"batch/v1","kind":"Job"`, []string{
			`{}`, `{"metadata":null}`, `{"metadata":{"name":null}}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"namespace":"other"}}`,
			`{"metadata":{"uid":"x"}}`, `{"metadata":{"uid":null}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":null}}`,
			`{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":null,"c":"3"}}}`, `{"metadata":{"labels":{"a":"not a value"}}}`,
			`{"metadata":{"annotations":{}}}`, `{"metadata":{"generation":5}}`, `{"metadata":{"creationTimestamp":null}}`,
			`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, `{"metadata":{"generateName":"g-"}}`,
			`{"spec":null}`, `{"spec":{}}`, `{"spec":{"parallelism":-1}}`, `{"spec":{"parallelism":null}}`, `{"spec":{"suspend":true,"completionMode":null}}`,
			`{"spec":{"template":null}}`, `{"spec":{"template":{"spec":null}}}`, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":null}}}}`,
			`{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, `{"spec":{"selector":{"matchLabels":{"x":"y"}}}}`, `{"spec":{"podFailurePolicy":{"rules":[]}}}`,
			`{"status":{"active":7}}`, `{"status":null}`,
		}},
		"podgroups": {"/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups", group, `"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup"`, []string{
			`{"metadata":{"labels":{"a":"2"}}}`, `{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}`, `{"spec":{"schedulingPolicy":{"gang":null}}}`,
			`{"spec":{"schedulingPolicy":{"gang":null,"basic":{}}}}`, `{"spec":{"priority":7}}`, `{"spec":null}`, `{"metadata":{"annotations":{"a":"b"}}}`,
		}},
	}
	for name, kind := range kinds {
		for _, body := range kind.bodies {
			t.Run(name+" "+body, func(t *testing.T) {
				config := start(t, emulator.Options{}).Config()
				short := patched(t, config, kind.path, kind.object, body)
				separator := ","
				if body == `{}` {
					separator = ""
				}
				assert.Equal(t, patched(t, config, kind.path, kind.object, "{"+kind.typed+separator+body[1:]), short)
			})
		}
	}
}

// changing is what no two objects have in common.
var changing = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time|batch.kubernetes.io/controller-uid|controller-uid)":"[^"]*"|uid: [0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f-]{27}`)

// patched returns the answer to a merge patch of a new object, less what is never the same, with the warnings.
func patched(t *testing.T, config *rest.Config, path, object, body string) string {
	t.Helper()
	json := http.Header{"Content-Type": {"application/json"}}
	code, _, answer := raw(t, config, http.MethodPost, path, object, json)
	require.Equal(t, http.StatusCreated, code, answer)
	code, header, answer := raw(t, config, http.MethodPatch, path+"/j", body, http.Header{"Content-Type": {"application/merge-patch+json"}})
	gone, _, message := raw(t, config, http.MethodDelete, path+"/j", `{"propagationPolicy":"Background"}`, json)
	require.Equal(t, http.StatusOK, gone, message)
	raw(t, config, http.MethodPatch, path+"/j", `{"metadata":{"finalizers":null}}`, http.Header{"Content-Type": {"application/merge-patch+json"}})
	return http.StatusText(code) + "\n" + strings.Join(header.Values("Warning"), "\n") + "\n" + changing.ReplaceAllString(answer, "…")
}
