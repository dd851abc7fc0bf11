package kubelet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
)

func TestNewRefusesOptionsThatMakeNoSense(t *testing.T) {
	one := func(node Node) Options {
		node.Name = "a"
		return Options{Nodes: []Node{node}}
	}
	for name, tc := range map[string]struct {
		options   Options
		wantField string
		wantValue any
		want      string
	}{
		"a node without a name":      {Options{Nodes: []Node{{}}}, "Options.Nodes[0].Name", "", "Options.Nodes[0].Name: Required value: a node needs a name"},
		"a name that is none":        {Options{Nodes: []Node{{Name: "a"}, {Name: "A b"}}}, "Options.Nodes[1].Name", "A b", "RFC 1123"},
		"a name that is not unique":  {Options{Nodes: []Node{{Name: "a"}, {Name: "b"}, {Name: "a"}}}, "Options.Nodes[2].Name", "a", `Options.Nodes[2].Name: Duplicate value: "a"`},
		"a label that is none":       {one(Node{Labels: map[string]string{"a b": "c"}}), "Options.Nodes[0].Labels", "a b", "name part must consist of"},
		"a label's value":            {one(Node{Labels: map[string]string{"a": "b c"}}), "Options.Nodes[0].Labels", "b c", "valid label"},
		"a taint without a key":      {one(Node{Taints: []corev1.Taint{{Effect: "NoSchedule"}}}), "Options.Nodes[0].Taints[0].Key", "", "name part must be non-empty"},
		"a taint's value":            {one(Node{Taints: []corev1.Taint{{Key: "k", Value: "a b", Effect: "NoSchedule"}}}), "Options.Nodes[0].Taints[0].Value", "a b", "valid label"},
		"a taint's effect":           {one(Node{Taints: []corev1.Taint{{Key: "k", Effect: "y"}}}), "Options.Nodes[0].Taints[0].Effect", corev1.TaintEffect("y"), `supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		"a taint without an effect":  {one(Node{Taints: []corev1.Taint{{Key: "k"}}}), "Options.Nodes[0].Taints[0].Effect", "", "one of [NoSchedule PreferNoSchedule NoExecute]"},
		"a taint twice":              {one(Node{Taints: []corev1.Taint{{Key: "k", Effect: "NoSchedule"}, {Key: "k", Effect: "NoSchedule"}}}), "Options.Nodes[0].Taints[1]", "k:NoSchedule", "unique by key and effect"},
		"less than no CPU":           {one(Node{Capacity: corev1.ResourceList{"cpu": resource.MustParse("-1")}}), "Options.Nodes[0].Capacity[cpu]", "-1", "must not be negative"},
		"half a pod":                 {one(Node{Capacity: corev1.ResourceList{"pods": resource.MustParse("500m")}}), "Options.Nodes[0].Capacity[pods]", "500m", "must be a whole number"},
		"half a device":              {one(Node{Capacity: corev1.ResourceList{"example.com/gpu": resource.MustParse("500m")}}), "Options.Nodes[0].Capacity[example.com/gpu]", "500m", "must be a whole number"},
		"a resource that is none":    {one(Node{Capacity: corev1.ResourceList{"c p u": resource.MustParse("1")}}), "Options.Nodes[0].Capacity[c p u]", "c p u", "name part must consist of"},
		"less than no log":           {Options{LogLimit: -1}, "Options.LogLimit", -1, "Options.LogLimit: Invalid value: -1: must not be negative"},
		"a start before its time":    {Options{StartDelay: -1}, "Options.StartDelay", time.Duration(-1), `Options.StartDelay: Invalid value: "-1ns": must not be negative`},
		"less than no grace":         {Options{Runtime: Processes(ProcessOptions{StopGrace: -1})}, "Options.Runtime.StopGrace", time.Duration(-1), "must not be negative"},
		"a script for processes":     {Options{Script: Fixed{}, Runtime: Processes(ProcessOptions{})}, "Options.Script", "", "Options.Script: Forbidden: is not asked where Options.Runtime runs commands: leave one of them out"},
		"a function that is not":     {Options{Script: ScriptFunc(nil)}, "Options.Script", "", "the ScriptFunc is nil"},
		"a script that ends too bad": {Options{Script: Fixed{ExitCode: 300}}, "Options.Script.ExitCode", int32(300), "must be 0 to 255"},
		"a script that ends early":   {Options{Script: Fixed{Duration: -1}}, "Options.Script.Duration", time.Duration(-1), "must not be negative"},
		"an index that is none":      {Options{Script: FailIndex(-1, 1, 1, nil)}, "Options.Script.Index", -1, "must not be negative"},
		"a failure that is none":     {Options{Script: FailIndex(0, 0, 1, nil)}, "Options.Script.ExitCode", int32(0), "must be 1 to 255"},
		"less than no attempt":       {Options{Script: FailIndex(0, 1, -1, nil)}, "Options.Script.Attempts", -1, "must not be negative"},
		"a failure before a fault":   {Options{Script: FailIndex(0, 1, 1, FailIndex(1, 256, 1, nil))}, "Options.Script.ExitCode", int32(256), "must be 1 to 255"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(&rest.Config{}, tc.options)
			require.ErrorContains(t, err, "making kubelet: Options.")
			require.ErrorContains(t, err, tc.want)
			var fault *field.Error
			require.True(t, errors.As(err, &fault))
			assert.Equal(t, tc.wantField, fault.Field)
			assert.Equal(t, tc.wantValue, fault.BadValue)
			require.Error(t, tc.options.Validate())
		})
	}
}

func TestNewNamesAllThatMakesNoSense(t *testing.T) {
	_, err := New(&rest.Config{}, Options{Script: FailIndex(-1, 0, -1, nil), LogLimit: -1, StartDelay: -time.Second})
	require.EqualError(t, err, "making kubelet: "+strings.Join([]string{
		"Options.Script.Index: Invalid value: -1: must not be negative",
		"Options.Script.ExitCode: Invalid value: 0: must be 1 to 255 for a failure",
		"Options.Script.Attempts: Invalid value: -1: must not be negative",
		"Options.LogLimit: Invalid value: -1: must not be negative",
		`Options.StartDelay: Invalid value: "-1s": must not be negative`,
	}, "; "))
}

func TestNewTakesWhatMakesSense(t *testing.T) {
	require.NoError(t, Options{}.Validate())
	require.NoError(t, Options{
		Nodes: []Node{{
			Name: "a.example", Labels: map[string]string{"example.com/zone": "b"}, Taints: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute}},
			Capacity: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "example.com/gpu": resource.MustParse("2")},
		}},
		Script: FailIndex(0, 255, 0, Fixed{ExitCode: 255}), LeaseInterval: -1,
	}.Validate())
	require.NoError(t, Options{Runtime: Processes(ProcessOptions{})}.Validate())
}

func TestAContainerWhoseOutcomeCannotBeIsNotStarted(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome Outcome
		want    string
	}{
		"an exit code":        {Outcome{ExitCode: 300}, "asking the script: Outcome.ExitCode: Invalid value: 300: must be 0 to 255"},
		"a duration":          {Outcome{Duration: -1}, `asking the script: Outcome.Duration: Invalid value: "-1ns": must not be negative`},
		"a time to shut down": {Outcome{Shutdown: -1}, `asking the script: Outcome.Shutdown: Invalid value: "-1ns": must not be negative`},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubelet(nil, Options{Script: ScriptFunc(func(Attempt) Outcome { return tc.outcome })})
			pod := makePod("a").Obj()
			r := newRun(pod, k.clock.Now(), 0, false, k.playContainer)
			_, err := k.playContainer(r, &container{spec: &pod.Spec.Containers[0]})
			require.EqualError(t, err, tc.want)
		})
	}
}

func TestAKubeletRunsOnce(t *testing.T) {
	k, err := New(&rest.Config{Host: "https://example.invalid"}, Options{Nodes: []Node{{Name: "a"}}})
	require.NoError(t, err)
	require.ErrorContains(t, k.Run(t.Context()), "registering node a")
	require.ErrorContains(t, k.Run(t.Context()), "it runs already or has run")
}
