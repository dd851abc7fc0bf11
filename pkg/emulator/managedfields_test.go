package emulator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator"
)

func TestPatchesAndManagedFields(t *testing.T) {
	kinds := map[string]types.PatchType{"merge": types.MergePatchType, "strategic merge": types.StrategicMergePatchType}
	for name, tc := range map[string]struct {
		patch string
		want  []string
	}{
		"a change adds its manager":             {`{"metadata":{"labels":{"a":"b"}}}`, []string{"creator", "patcher"}},
		"no change leaves all as it is":         {`{"metadata":{"labels":null}}`, []string{"creator"}},
		"an empty entry resets them":            {`{"metadata":{"managedFields":[{}]}}`, nil},
		"an empty list resets them":             {`{"metadata":{"managedFields":[]}}`, nil},
		"a reset goes for the change beside it": {`{"metadata":{"managedFields":[{}],"labels":{"a":"b"}}}`, nil},
		"null is as good as nothing":            {`{"metadata":{"managedFields":null}}`, []string{"creator"}},
		"entries may be given":                  {`{"metadata":{"managedFields":[` + entry("given", "v1") + `]}}`, []string{"given"}},
		"entries of no version are passed over": {`{"metadata":{"managedFields":[` + entry("given", "") + `]}}`, []string{"creator"}},
	} {
		for kind, patchType := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				pods := kube(t, start(t, emulator.Options{}).Config()).CoreV1().Pods("default")
				_, err := pods.Create(t.Context(), makePod("p"), metav1.CreateOptions{FieldManager: "creator"})
				require.NoError(t, err)
				patched, err := pods.Patch(t.Context(), "p", patchType, []byte(tc.patch), metav1.PatchOptions{FieldManager: "patcher"})
				require.NoError(t, err)
				var managers []string
				for _, entry := range patched.ManagedFields {
					managers = append(managers, entry.Manager)
				}
				assert.Equal(t, tc.want, managers)
			})
		}
	}
}

func entry(manager, version string) string {
	return `{"manager":"` + manager + `","operation":"Update","apiVersion":"` + version + `","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:x":{}}}}}`
}
