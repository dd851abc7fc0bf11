package check_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/check"
)

func TestErrorHasAllFaults(t *testing.T) {
	workers := field.Invalid(check.Option("Workers"), -1, "must not be negative")
	delay := field.Invalid(check.Option("Delay"), -time.Second, "must not be negative")
	err := fmt.Errorf("making it: %w", check.Error(field.ErrorList{workers, delay}, fs.ErrNotExist))
	require.EqualError(t, err, `making it: Options.Workers: Invalid value: -1: must not be negative; Options.Delay: Invalid value: "-1s": must not be negative`)

	var first *field.Error
	require.ErrorAs(t, err, &first)
	assert.Same(t, workers, first)
	assert.Equal(t, field.ErrorList{workers, delay}, check.All(err))
	assert.Equal(t, -time.Second, delay.BadValue, "what was given")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, fs.ErrExist)

	require.NoError(t, check.Error(nil, fs.ErrNotExist))
	assert.Empty(t, check.All(errors.New("another")))
	assert.Empty(t, check.All(nil))
}

func TestMove(t *testing.T) {
	options := field.NewPath("Options")
	for name, tc := range map[string]struct {
		fault, from, to *field.Path
		want            string
	}{
		"all options":      {check.Option("Workers"), options, check.Option("Job"), "Options.Job.Workers"},
		"the option":       {check.Option("Nodes"), check.Option("Nodes"), check.Option("Count"), "Options.Count"},
		"what is below it": {check.Option("Nodes").Index(0), check.Option("Nodes"), check.Option("Count"), "Options.Count[0]"},
		"another":          {check.Option("NodesToo"), check.Option("Nodes"), check.Option("Count"), "Options.NodesToo"},
	} {
		t.Run(name, func(t *testing.T) {
			moved := check.Move(field.ErrorList{field.Required(tc.fault, "")}, tc.from, tc.to)
			assert.Equal(t, tc.want, moved[0].Field)
		})
	}
}

func TestRules(t *testing.T) {
	at := check.Option("X", "Y")
	for name, tc := range map[string]struct {
		faults field.ErrorList
		want   string // empty for none
	}{
		"zero is not negative":             {check.NotNegative(at, 0), ""},
		"a negative time":                  {check.NotNegative(at, -time.Second), "must not be negative"},
		"a time at its bound":              {check.NotAbove(at, time.Second, "Most", time.Second), ""},
		"a bound that is at fault itself":  {check.NotAbove(at, time.Second, "Most", -1), ""},
		"a time above its bound":           {check.NotAbove(at, time.Minute, "Most", time.Second), "must not be more than Most, which is 1s"},
		"nothing is one of any":            {check.OneOf(at, "", "a"), ""},
		"one that is known":                {check.OneOf(at, "a", "a"), ""},
		"one that is not":                  {check.OneOf(at, "b", "a"), `supported values: "a"`},
		"each is known":                    {check.EachOf(at, []string{"a", "a"}, []string{"a"}), ""},
		"one of many is not":               {check.EachOf(at, []string{"a", "b"}, []string{"a"}), `Options.X.Y[1]: Unsupported value: "b": supported values: "a"`},
		"no namespace":                     {check.Namespace(at, ""), ""},
		"a namespace":                      {check.Namespace(at, "a-b"), ""},
		"a namespace with a dot":           {check.Namespace(at, "a.b"), "must not contain dots"},
		"a node":                           {check.Name(at, "a.b", "name it"), ""},
		"a node with a space":              {check.Name(at, "a b", "name it"), "RFC 1123 subdomain"},
		"a node without a name":            {check.Name(at, "", "name it"), "Options.X.Y: Required value: name it"},
		"labels":                           {check.Labels(at, map[string]string{"a": "b", "example.com/a": ""}), ""},
		"a device in whole pieces":         {check.Capacity(at, capacity("example.com/gpu", "2")), ""},
		"half a CPU":                       {check.Capacity(at, capacity("cpu", "500m")), ""},
		"half of what Kubernetes measures": {check.Capacity(at, capacity("attachable.kubernetes.io/x", "500m")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.want == "" {
				assert.Empty(t, tc.faults)
				return
			}
			require.Len(t, tc.faults, 1)
			require.ErrorContains(t, tc.faults[0], tc.want)
		})
	}
	all := check.Labels(at, map[string]string{"b b": "", "a a": ""})
	require.Len(t, all, 2)
	assert.Equal(t, "a a", all[0].BadValue, "in the order of the keys")
}

func capacity(name corev1.ResourceName, amount string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(amount)}
}
