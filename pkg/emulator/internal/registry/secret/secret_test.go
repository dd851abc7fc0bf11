package secret_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func secrets(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("secrets"), "default")
}

func makeSecret(secretType corev1.SecretType, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}, Type: secretType, Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

func TestTypesSayWhatMustBeThere(t *testing.T) {
	for name, tc := range map[string]struct {
		secret  *corev1.Secret
		wantErr string
	}{
		"anything goes in an opaque one":    {secret: makeSecret(corev1.SecretTypeOpaque, map[string]string{"a": "b"})},
		"and in one of an unknown type":     {secret: makeSecret("example.com/own", nil)},
		"a token needs an account":          {secret: makeSecret(corev1.SecretTypeServiceAccountToken, nil), wantErr: "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
		"credentials need a file":           {secret: makeSecret(corev1.SecretTypeDockerConfigJson, nil), wantErr: "data[.dockerconfigjson]: Required value"},
		"of JSON":                           {secret: makeSecret(corev1.SecretTypeDockercfg, map[string]string{".dockercfg": "{"}), wantErr: "<secret contents redacted>"},
		"a user without password will do":   {secret: makeSecret(corev1.SecretTypeBasicAuth, map[string]string{"username": "u"})},
		"but neither will not":              {secret: makeSecret(corev1.SecretTypeBasicAuth, nil), wantErr: "data[password]: Required value"},
		"an empty key is none":              {secret: makeSecret(corev1.SecretTypeSSHAuth, map[string]string{"ssh-privatekey": ""}), wantErr: "data[ssh-privatekey]: Required value"},
		"a certificate needs its key":       {secret: makeSecret(corev1.SecretTypeTLS, map[string]string{"tls.crt": "x"}), wantErr: "data[tls.key]: Required value"},
		"which need not be a key after all": {secret: makeSecret(corev1.SecretTypeTLS, map[string]string{"tls.crt": "x", "tls.key": "y"})},
		"names of data are those of files":  {secret: makeSecret(corev1.SecretTypeOpaque, map[string]string{"a b": "c"}), wantErr: "data[a b]: Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := secrets(t).Create(tc.secret)
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
}

func TestUpdate(t *testing.T) {
	client := secrets(t)
	secret := makeSecret("example.com/own", map[string]string{"a": "b"})
	secret.Immutable = new(true)
	_, err := client.Create(secret)
	require.NoError(t, err)
	_, err = client.Update("s", "", func(obj runtime.Object) { obj.(*corev1.Secret).Type = "example.com/other" })
	assert.ErrorContains(t, err, "type: Invalid value: \"example.com/other\": field is immutable")
	_, err = client.Update("s", "", func(obj runtime.Object) { obj.(*corev1.Secret).Data["a"] = []byte("c") })
	assert.ErrorContains(t, err, "data: Forbidden")
	_, err = client.Update("s", "", func(obj runtime.Object) { obj.(*corev1.Secret).Type = "" })
	assert.NoError(t, err, "no type means the stored one")

	for selector, want := range map[string]int{"type=example.com/own": 1, "type=Opaque": 0} {
		list, err := client.List(fields.ParseSelectorOrDie(selector))
		require.NoError(t, err)
		assert.Len(t, list.(*corev1.SecretList).Items, want)
	}
}

func TestTable(t *testing.T) {
	table := secrets(t).Table(makeSecret(corev1.SecretTypeOpaque, map[string]string{"a": "b"}))
	assert.Equal(t, []any{"s", "Opaque", int64(1), "<unknown>"}, table.Rows[0].Cells)
}
