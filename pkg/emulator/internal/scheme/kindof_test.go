package scheme

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

func TestKindIn(t *testing.T) {
	for name, tc := range map[string]struct {
		data, apiVersion, kind string
		unsure                 bool
	}{
		"first":                       {data: `{"apiVersion":"batch/v1","kind":"Job","spec":{}}`, apiVersion: "batch/v1", kind: "Job"},
		"last, with space":            {data: " {\n \"spec\": {\"kind\": \"x\"}, \"kind\" : \"Pod\" ,\"apiVersion\"\t:\n\"v1\" }\n", apiVersion: "v1", kind: "Pod"},
		"nested ones are not it":      {data: `{"a":[{"kind":"x"},"kind",{"apiVersion":"y"}],"kind":"Pod","b":{"kind":"z"},"apiVersion":"v1"}`, apiVersion: "v1", kind: "Pod"},
		"strings that look like JSON": {data: `{"a":"\"kind\":\"x\",{[","kind":"Pod","apiVersion":"v1","b":"}"}`, apiVersion: "v1", kind: "Pod"},
		"one is missing":              {data: `{"kind":"Pod"}`, unsure: true},
		"twice":                       {data: `{"kind":"Pod","apiVersion":"v1","kind":"Job"}`, unsure: true},
		"in other letters":            {data: `{"kind":"Pod","apiVersion":"v1","Kind":"Job"}`, unsure: true},
		"with an escape":              {data: `{"kind":"P\u006fd","apiVersion":"v1"}`, unsure: true},
		"a key with an escape":        {data: `{"kind":"Pod","apiVersion":"v1","\u006bind":"Job"}`, unsure: true},
		"null":                        {data: `{"kind":null,"apiVersion":"v1"}`, unsure: true},
		"an object":                   {data: `{"kind":{"a":"b"},"apiVersion":"v1"}`, unsure: true},
		"empty":                       {data: `{"kind":"","apiVersion":"v1"}`, unsure: true},
		"a list":                      {data: `[{"kind":"Pod","apiVersion":"v1"}]`, unsure: true},
		"nothing":                     {unsure: true},
		"broken off":                  {data: `{"kind":"Pod","apiVersion":"v1`, unsure: true},
		"broken off at the key":       {data: `{"kind":"Pod","apiVersion"`, unsure: true},
	} {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, found := kindIn([]byte(tc.data))
			assert.Equal(t, !tc.unsure, found)
			if found {
				assert.Equal(t, tc.apiVersion, apiVersion)
				assert.Equal(t, tc.kind, kind)
			}
		})
	}
}

// FuzzKindIn compares with the library for whatever that takes for JSON.
func FuzzKindIn(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"batch/v1","kind":"Job","spec":{"a":[1,{"kind":"x"}]}}`))
	f.Add([]byte(`{"kind" : "Pod", "KIND":"x", "apiVersion":"v1","\u006bind":"y"}`))
	f.Add([]byte("{\"a\":\"\\\\\",\"kind\":\"Pod\",\"apiVersion\":\"v1\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		want, err := json.DefaultMetaFactory.Interpret(data)
		if err != nil {
			return // the second reading finds out
		}
		got, err := quickKinds{json.DefaultMetaFactory}.Interpret(data)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func BenchmarkKindOf(b *testing.B) {
	data := []byte(`{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload","metadata":{"name":"w"},` +
		`"spec":{"podGroupTemplates":[{"name":"workers","schedulingPolicy":{"gang":{"minCount":4}}}]}}`)
	for name, factory := range map[string]json.MetaFactory{"quick": quickKinds{json.DefaultMetaFactory}, "library": json.DefaultMetaFactory} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := factory.Interpret(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
