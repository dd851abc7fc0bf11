package core_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// FuzzPod judges any pod that JSON can spell: nothing panics, defaults do not build on each other, validation changes
// nothing and answers the same each time, and a pod may always be replaced by itself as far as its spec goes.
func FuzzPod(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "generated.json"))
	require.NoError(f, err)
	var cases []generatedCase
	require.NoError(f, json.Unmarshal(text, &cases))
	for i, c := range cases {
		if c.Op == "create" && i%8 == 0 {
			f.Add([]byte(c.New))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pod := &corev1.Pod{}
		if json.Unmarshal(text, pod) != nil {
			t.Skip("no pod")
		}
		core.SetPodDefaults(pod)
		again := pod.DeepCopy()
		core.SetPodDefaults(again)
		require.Empty(t, cmp.Diff(pod, again))

		core.PreparePodForCreate(pod, features.Gates{}, noon)
		before := pod.DeepCopy()
		errs := lines(core.ValidatePod(pod, core.Options{}))
		require.Equal(t, errs, lines(core.ValidatePod(pod, core.Options{})))
		core.PodWarnings(pod)
		require.Empty(t, cmp.Diff(before, pod))

		for _, err := range core.ValidatePodUpdate(pod, before, core.Options{}) {
			require.NotContains(t, err.Error(), "pod updates may not change fields")
		}
	})
}
