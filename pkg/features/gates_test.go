package features_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/features"
)

func TestZeroValueHasEveryGateOn(t *testing.T) {
	for _, gate := range features.Known() {
		assert.True(t, features.Gates{}.Enabled(gate), gate)
		assert.False(t, features.KubernetesDefaults().Enabled(gate), gate)
	}
	assert.False(t, features.Gates{}.Enabled("NoSuchGate"))
	assert.True(t, slices.IsSorted(features.Known()))
}

func TestWithChangesOneGateOfACopy(t *testing.T) {
	all := features.Gates{}
	less := all.With(features.WorkloadWithJob, false)
	assert.False(t, less.Enabled(features.WorkloadWithJob))
	assert.True(t, less.Enabled(features.GenericWorkload))
	assert.True(t, all.Enabled(features.WorkloadWithJob), "the original must not change")
	assert.Equal(t, all, less.With(features.WorkloadWithJob, true))
	assert.Equal(t, all, all.With("NoSuchGate", false))
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		text    string
		want    features.Gates
		wantErr string
	}{
		"nothing leaves all on":           {text: "", want: features.Gates{}},
		"one off":                         {text: "WorkloadWithJob=false", want: features.Gates{}.With(features.WorkloadWithJob, false)},
		"spaces and a trailing comma":     {text: " WorkloadWithJob = false , ", want: features.Gates{}.With(features.WorkloadWithJob, false)},
		"all off but one":                 {text: "GenericWorkload=true,AllAlpha=false", want: features.KubernetesDefaults().With(features.GenericWorkload, true)},
		"an unknown name":                 {text: "Gang=true", wantErr: `feature gate "Gang" is not known`},
		"no value":                        {text: "GangScheduling", wantErr: `feature gate "GangScheduling": want NAME=true or NAME=false`},
		"no boolean":                      {text: "GangScheduling=si", wantErr: `want NAME=true or NAME=false`},
		"a gate without the one it needs": {text: "GenericWorkload=false", wantErr: "GangScheduling needs GenericWorkload"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := features.Parse(tc.text)
			if tc.wantErr != "" {
				require.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestStringIsReadBackByParse(t *testing.T) {
	for _, gates := range []features.Gates{{}, features.KubernetesDefaults(), features.Gates{}.With(features.WorkloadWithJob, false)} {
		got, err := features.Parse(gates.String())
		require.NoError(t, err)
		assert.Equal(t, gates, got)
	}
}

func TestOptionsNamesEveryGate(t *testing.T) {
	options := features.KubernetesDefaults().With(features.GenericWorkload, true).Options()
	assert.Len(t, options, len(features.Known()))
	assert.True(t, options["GenericWorkload"])
	assert.False(t, options["GangScheduling"])
}

func ExampleParse() {
	gates, err := features.Parse("WorkloadAwarePreemption=false")
	if err != nil {
		panic(err)
	}
	fmt.Println(gates.Enabled(features.GangScheduling), gates.Enabled(features.WorkloadAwarePreemption))
	// Output: true false
}
