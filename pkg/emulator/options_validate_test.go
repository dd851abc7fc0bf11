package emulator_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

func TestStartNamesTheOptionThatMakesNoSense(t *testing.T) {
	etcd := []string{"http://127.0.0.1:2379"}
	gates := features.Gates{}.With(features.GenericWorkload, false)
	for name, tc := range map[string]struct {
		options   emulator.Options
		wantField string
		wantValue any
	}{
		"gates":                       {emulator.Options{Gates: gates}, "Options.Gates", gates.String()},
		"a token, which is not shown": {emulator.Options{Token: "a b"}, "Options.Token", field.OmitValueType{}},
		"a user":                      {emulator.Options{Tokens: map[string]emulator.User{"t": {Name: "a b"}}}, "Options.Tokens", "a b"},
		"an admission plugin":         {emulator.Options{DisabledAdmission: []string{"Priority", "Foo"}}, "Options.DisabledAdmission[1]", "Foo"},
		"tolerations":                 {emulator.Options{TolerationSeconds: new(int64(-1))}, "Options.TolerationSeconds", int64(-1)},
		"a service":                   {emulator.Options{Services: map[string]http.Handler{"a": http.NotFoundHandler()}}, "Options.Services[a]", "a"},
		"a service without a handler": {emulator.Options{Services: map[string]http.Handler{"a/b": nil}}, "Options.Services[a/b]", ""},
		"a controller":                {emulator.Options{DisabledControllers: []string{"gc"}}, "Options.DisabledControllers[0]", "gc"},
		"a definition":                {emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{nil}}, "Options.CRDs[0]", ""},
		"a definition of a name that is taken": {
			emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD(), makeCRD()}}, "Options.CRDs[1]", "widgets.example.com",
		},
		"a file of definitions":     {emulator.Options{CRDPaths: []string{"testdata/nowhere"}}, "Options.CRDPaths[0]", "testdata/nowhere"},
		"history":                   {emulator.Options{Etcd: etcd, History: emulator.History{Events: 1}}, "Options.History", emulator.History{Events: 1}},
		"a snapshot that is none":   {emulator.Options{Restore: &emulator.Snapshot{}}, "Options.Restore", "&Snapshot{}"},
		"an endpoint":               {emulator.Options{Etcd: []string{""}}, "Options.Etcd[0]", ""},
		"TLS for no etcd":           {emulator.Options{EtcdTLS: &tls.Config{MinVersion: tls.VersionTLS12}}, "Options.EtcdTLS", ""},
		"a prefix for no etcd":      {emulator.Options{EtcdPrefix: "/a"}, "Options.EtcdPrefix", "/a"},
		"an empty prefix":           {emulator.Options{Etcd: etcd, EtcdPrefix: "//"}, "Options.EtcdPrefix", "//"},
		"a wrapper without content": {emulator.Options{WrapHandler: func(http.Handler) http.Handler { return nil }}, "Options.WrapHandler", field.OmitValueType{}},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := emulator.Start(t.Context(), tc.options)
			assert.Nil(t, server)
			var fault *field.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tc.wantField, fault.Field)
			assert.Equal(t, tc.wantValue, fault.BadValue)
			require.ErrorContains(t, err, "starting the API server emulator: "+tc.wantField+": ")
		})
	}
	requireNoGoroutines(t)
}

func TestStartNamesAllThatMakesNoSense(t *testing.T) {
	options := emulator.Options{
		Token: "a secret", DisabledAdmission: []string{"Foo"}, DisabledControllers: []string{"gc"}, TolerationSeconds: new(int64(-2)),
		Tokens: map[string]emulator.User{"not told": {Name: "ann", Groups: []string{""}}},
	}
	_, err := emulator.Start(t.Context(), options)
	require.EqualError(t, err, "starting the API server emulator: "+strings.Join([]string{
		"Options.Token: Invalid value: must not contain white space",
		`Options.Tokens: Invalid value: "ann": a group has no name`,
		`Options.Tokens: Invalid value: "ann": the token must not contain white space`,
		`Options.DisabledAdmission[0]: Unsupported value: "Foo": supported values: "NamespaceLifecycle", "TaintNodesByCondition", "Priority", ` +
			`"DefaultTolerationSeconds", "RuntimeClass", "CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "PodGroupProtection", "PodTopologyLabels", "PodGroupWorkloadExists", "JobValidation", ` +
			`"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"`,
		"Options.TolerationSeconds: Invalid value: -2: must not be negative",
		`Options.DisabledControllers[0]: Unsupported value: "gc": supported values: "garbage-collector", "namespace", "clusterrole-aggregation"`,
	}, "; "))
	require.Error(t, options.Validate())
	require.NoError(t, emulator.Options{}.Validate())
}

// The list of what can be left out is what is there.
func TestEveryAdmissionPluginCanBeLeftOut(t *testing.T) {
	all := []string{
		"NamespaceLifecycle", "TaintNodesByCondition", "Priority", "DefaultTolerationSeconds", "RuntimeClass", "CertificateApproval",
		"CertificateSigning", "CertificateSubjectRestriction", "PodGroupProtection",
		"PodTopologyLabels", "PodGroupWorkloadExists", "JobValidation", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	}
	start(t, emulator.Options{DisabledAdmission: all})
}

func TestWhatIsNoSnapshotIsRefused(t *testing.T) {
	_, err := emulator.Start(t.Context(), emulator.Options{Restore: &emulator.Snapshot{}})
	require.ErrorIs(t, err, emulator.ErrBadSnapshot)
	_, err = emulator.Start(t.Context(), emulator.Options{Restore: &emulator.Snapshot{}, Etcd: []string{"http://127.0.0.1:2379"}})
	require.ErrorIs(t, err, emulator.ErrNotInMemory)

	server := start(t, emulator.Options{})
	for name, do := range map[string]func(*emulator.Snapshot) error{"Restore": server.Restore, "Rewind": server.Rewind} {
		require.ErrorIs(t, do(nil), emulator.ErrBadSnapshot, name)
		err := do(&emulator.Snapshot{})
		require.ErrorIs(t, err, emulator.ErrBadSnapshot, name)
		require.ErrorContains(t, err, "take one with Server.Snapshot")
	}
	taken, err := server.Snapshot()
	require.NoError(t, err)
	require.NoError(t, server.Rewind(taken))
}
