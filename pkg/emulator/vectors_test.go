package emulator_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

// vectorCase is a conversation with a kube-apiserver 1.36.3, in a namespace of its own: requests, and what it answered.
type vectorCase struct {
	ID      string
	Profile string
	Steps   []struct {
		Request  vectorRequest
		Response json.RawMessage
	}
}

// vectorRequest is a request as recorded. $NS stands for the namespace of the case, ${NAME} for what Capture took from
// an earlier answer.
type vectorRequest struct {
	Method, Path, ContentType, Accept string
	// Body is the body of a request that sends JSON, Raw that of another.
	Body json.RawMessage
	Raw  *string
	// Capture says which texts of the answer to keep: the path of each in the answer, by the name to keep it under.
	Capture map[string]string
}

// vectorProfiles are the servers that were recorded. No controller ran on either.
var vectorProfiles = map[string]features.Gates{
	"all":  {},
	"base": features.KubernetesDefaults().With(features.GenericWorkload, true),
}

// TestVectors sends what was sent to a kube-apiserver 1.36.3 and wants what it answered: status code, body and warnings,
// all of them. Only what differs from run to run is replaced by tokens before it is compared; see normalise.
func TestVectors(t *testing.T) {
	families := loadVectors(t)
	for profile, gates := range vectorProfiles {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			for _, cases := range families {
				for _, recorded := range cases {
					if recorded.Profile != profile {
						continue
					}
					t.Run(recorded.ID, func(t *testing.T) {
						t.Parallel()
						// A server of its own, since some cases make objects of the whole cluster that change the answers to others.
						server := start(t, emulator.Options{Gates: gates, DisabledControllers: emulator.Controllers()})
						player := newVectorPlayer(t, server.Config())
						for i, answer := range player.play(t, &recorded) {
							want := readJSON(t, recorded.Steps[i].Response)
							for _, difference := range differences(want, answer) {
								t.Errorf("step %d: %s", i, difference)
							}
						}
					})
				}
			}
		})
	}
}

// loadVectors reads all recordings: a file holds the cases of one family.
func loadVectors(t *testing.T) map[string][]vectorCase {
	t.Helper()
	files, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	families := map[string][]vectorCase{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var cases []vectorCase
		require.NoError(t, json.Unmarshal(text, &cases), file)
		for _, recorded := range cases {
			require.Contains(t, vectorProfiles, recorded.Profile, "%s: %s", file, recorded.ID)
		}
		families[strings.TrimSuffix(filepath.Base(file), ".json")] = cases
	}
	return families
}

// vectorPlayer sends recorded requests to a server.
type vectorPlayer struct {
	client *http.Client
	host   string
}

func newVectorPlayer(t *testing.T, config *rest.Config) *vectorPlayer {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	return &vectorPlayer{client: client, host: config.Host}
}

// play makes the namespace of a case and sends its requests, one after the other. It returns the answers in the form of
// the recorded ones, normalised.
func (p *vectorPlayer) play(t *testing.T, recorded *vectorCase) []any {
	t.Helper()
	sum := sha1.Sum([]byte(recorded.ID)) // the recordings were made with such names
	namespace := "v-" + hex.EncodeToString(sum[:])[:10]
	body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + namespace + `"}}`
	created := p.send(t, &vectorRequest{Method: http.MethodPost, Path: "/api/v1/namespaces", Raw: &body, ContentType: "application/json"}, body)
	require.Equal(t, http.StatusCreated, created.code)

	known := map[string]string{"$NS": namespace}
	answers := make([]any, 0, len(recorded.Steps))
	for _, step := range recorded.Steps {
		request := step.Request
		body := string(request.Body)
		if request.Raw != nil {
			body = *request.Raw
		}
		request.Path = fillIn(request.Path, known)
		response := p.send(t, &request, fillIn(body, known))
		for name, path := range request.Capture {
			if text, found := lookUp(response.body, path); found {
				known["${"+name+"}"] = text
			}
		}
		answers = append(answers, response.normalised(namespace))
	}
	return answers
}

// fillIn replaces names by what is known by them. It works on the text of a document, so that the order of its fields
// stays: a server reports faults in the order in which it meets them.
func fillIn(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}

// lookUp returns the text at a path such as metadata.uid.
func lookUp(document any, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := document.(map[string]any)
		document = object[name]
	}
	text, found := document.(string)
	return text, found
}

// vectorResponse is an answer as it came: the body as a JSON document, or as text where it is none.
type vectorResponse struct {
	code     int
	body     any
	warnings []string
}

func (p *vectorPlayer) send(t *testing.T, recorded *vectorRequest, body string) vectorResponse {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), recorded.Method, p.host+escapePath(recorded.Path), strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("User-Agent", "vectors") // field managers are named after it
	request.Header.Set("Accept", "application/json")
	if recorded.Accept != "" {
		request.Header.Set("Accept", recorded.Accept)
	}
	if recorded.Body != nil || recorded.Raw != nil {
		request.Header.Set("Content-Type", recorded.ContentType)
	}
	response, err := p.client.Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	return vectorResponse{code: response.StatusCode, body: readBody(t, response.Body), warnings: response.Header.Values("Warning")}
}
