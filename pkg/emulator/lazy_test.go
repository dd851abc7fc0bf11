package emulator

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatAPathNeeds(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/pods": "",
		"/api/v1":      "",
		"/apis/apps/v1/namespaces/a/statefulsets": "apps",
		"/apis/apps/v1":            "apps",
		"/apis/apps":               documents,
		"/apis/apps/":              documents,
		"/apis":                    documents,
		"/api":                     documents,
		"/api/":                    documents,
		"/openapi/v3/apis/apps/v1": documents,
		"/":                        documents,
	} {
		group, needed := neededBy(path)
		assert.True(t, needed, path)
		assert.Equal(t, want, group, path)
	}
	for _, path := range []string{"/version", "/healthz", "/readyz/etcd", "/apix"} {
		_, needed := neededBy(path)
		assert.False(t, needed, path)
	}
}
