package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

var requestsResource = certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests")

type (
	request   = certificatesv1.CertificateSigningRequest
	condition = certificatesv1.CertificateSigningRequestCondition
)

// key is what certificates of the test are about.
func key(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return made
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// asked is a PKCS #10 request.
func asked(t *testing.T) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ann"}}, key(t))
	require.NoError(t, err)
	return encode("CERTIFICATE REQUEST", der)
}

// issued is a certificate.
func issued(t *testing.T) []byte {
	t.Helper()
	signer, template := key(t), &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1e10, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	require.NoError(t, err)
	return encode("CERTIFICATE", der)
}

func newRequest(t *testing.T) *request {
	t.Helper()
	return &request{
		ObjectMeta: metav1.ObjectMeta{Name: "Any: name"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: asked(t), SignerName: "example.com/signer", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}
}

func approved() condition {
	return condition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Fine"}
}

func denied() condition {
	return condition{Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue}
}

func failed() condition {
	return condition{Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue}
}

func TestWhatCannotBeAskedForIsRefused(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, requestsResource, "")
	long := strings.Repeat("a.", 120) + "a/" + strings.Repeat("c.", 180) + "c"
	for name, tc := range map[string]struct {
		change func(*certificatesv1.CertificateSigningRequestSpec)
		want   string
	}{
		"no request":           {func(s *certificatesv1.CertificateSigningRequestSpec) { s.Request = nil }, `PEM block type must be CERTIFICATE REQUEST`},
		"another kind of PEM":  {func(s *certificatesv1.CertificateSigningRequestSpec) { s.Request = issued(t) }, `PEM block type must be CERTIFICATE REQUEST`},
		"no usage":             {func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = nil }, `spec.usages: Required value`},
		"an unknown usage":     {func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages[0] = "fun" }, `spec.usages[0]: Unsupported value: "fun": supported values: "any", "cert sign", "client auth"`},
		"a usage twice":        {func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = append(s.Usages, s.Usages...) }, `spec.usages[1]: Duplicate value: "client auth"`},
		"no signer":            {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "" }, `spec.signerName: Required value`},
		"the legacy signer":    {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "kubernetes.io/legacy-unknown" }, `the legacy signerName is not allowed via this API version`},
		"a signer of no path":  {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "a.b" }, `must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		"a signer of two":      {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "a.b/c/d" }, `must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		"a domain of one part": {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "a/b" }, `spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		"a bad domain":         {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "A.b/c" }, `spec.signerName: Invalid value: "A.b": validating label "A": a lowercase RFC 1123 label must consist of`},
		"a bad path":           {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "a.b/C" }, `spec.signerName: Invalid value: "C": validating label "C": a lowercase RFC 1123 subdomain must consist of`},
		"a long signer":        {func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = long }, `spec.signerName: Too long: may not be more than 571 bytes`},
		"a short life":         {func(s *certificatesv1.CertificateSigningRequestSpec) { s.ExpirationSeconds = new(int32(599)) }, `spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := newRequest(t)
			bad.Name = name
			tc.change(&bad.Spec)
			_, err := client.Create(bad)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestARequestSaysWhoMadeIt(t *testing.T) {
	storages := registrytest.New(t, features.Gates{})
	ctx := genericapirequest.WithUser(registrytest.Context(t, requestsResource, ""), &user.DefaultInfo{
		Name: "ann", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"few"}},
	})
	wanted := newRequest(t)
	wanted.Spec.Username, wanted.Spec.Groups = "root", []string{"system:masters"}
	wanted.Status.Conditions = []condition{approved()}
	create := storages[requestsResource.GroupVersion()][requestsResource.Resource].(rest.Creater)
	obj, err := create.Create(ctx, wanted, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	require.NoError(t, err)
	made := obj.(*request)
	assert.Equal(t, "ann", made.Spec.Username)
	assert.Equal(t, "7", made.Spec.UID)
	assert.Equal(t, []string{"dev"}, made.Spec.Groups)
	assert.Equal(t, map[string]certificatesv1.ExtraValue{"scopes": {"few"}}, made.Spec.Extra)
	assert.Empty(t, made.Status.Conditions)

	client := storages.Client(t, requestsResource, "")
	obj, err = client.Update(made.Name, "", func(obj runtime.Object) {
		changed := obj.(*request)
		changed.Spec.SignerName, changed.Status.Conditions = "example.com/other", []condition{approved()}
		changed.Labels = map[string]string{"a": "b"}
	})
	require.NoError(t, err)
	assert.Equal(t, "example.com/signer", obj.(*request).Spec.SignerName, "what is asked for never changes")
	assert.Empty(t, obj.(*request).Status.Conditions)
	assert.Equal(t, map[string]string{"a": "b"}, obj.(*request).Labels)

	list, err := client.List(fields.OneTermEqualSelector("spec.signerName", "example.com/signer"))
	require.NoError(t, err)
	assert.Len(t, list.(*certificatesv1.CertificateSigningRequestList).Items, 1)
}

func TestFromRequestToCertificate(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, requestsResource, "")
	wanted := newRequest(t)
	wanted.Spec.ExpirationSeconds = new(int32(3600))
	_, err := client.Create(wanted)
	require.NoError(t, err)
	with := func(subresource string, certificate []byte, conditions ...condition) (*request, error) {
		obj, err := client.Update(wanted.Name, subresource, func(obj runtime.Object) {
			status := &obj.(*request).Status
			status.Conditions, status.Certificate = conditions, certificate
		})
		if err != nil {
			return nil, err
		}
		return obj.(*request), nil
	}
	cells := func(r *request) []any { return client.Table(r).Rows[0].Cells[2:] }

	_, err = with("status", nil, approved())
	require.ErrorContains(t, err, `status.conditions: Forbidden: updates may not add a condition of type "Approved"`)
	_, err = with("approval", nil, approved(), denied())
	require.ErrorContains(t, err, "Approved and Denied conditions are mutually exclusive")
	made, err := with("approval", issued(t), approved())
	require.NoError(t, err)
	assert.Empty(t, made.Status.Certificate, "approving is not signing")
	since := made.Status.Conditions[0].LastTransitionTime
	assert.False(t, since.IsZero())
	assert.False(t, made.Status.Conditions[0].LastUpdateTime.IsZero())
	assert.Equal(t, []any{"example.com/signer", "", "60m", "Approved"}, cells(made))

	_, err = with("approval", nil)
	require.ErrorContains(t, err, `updates may not remove a condition of type "Approved"`)
	_, err = with("status", nil)
	require.ErrorContains(t, err, `updates may not remove a condition of type "Approved"`)
	_, err = with("status", []byte("none"), approved())
	require.ErrorContains(t, err, "must contain at least one CERTIFICATE PEM block")
	_, err = with("status", asked(t), approved())
	require.ErrorContains(t, err, `only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`)

	late := approved()
	late.Reason = "Changed by the signer"
	certificate := issued(t)
	made, err = with("status", certificate, late)
	require.NoError(t, err)
	assert.Equal(t, certificate, made.Status.Certificate)
	assert.Equal(t, "Fine", made.Status.Conditions[0].Reason, "what approval has said stays")
	assert.Equal(t, []any{"example.com/signer", "", "60m", "Approved,Issued"}, cells(made))
	_, err = with("status", issued(t), approved())
	require.ErrorContains(t, err, "status.certificate: Forbidden: updates may not modify existing certificate content")

	made, err = with("status", certificate, approved(), failed())
	require.NoError(t, err)
	assert.Equal(t, []any{"example.com/signer", "", "60m", "Approved,Failed,Issued"}, cells(made))
	assert.Equal(t, since, made.Status.Conditions[0].LastTransitionTime)
	_, err = with("status", certificate, approved())
	require.ErrorContains(t, err, `updates may not remove a condition of type "Failed"`)
}

func TestConditionsAreWellFormed(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, requestsResource, "")
	wanted := newRequest(t)
	_, err := client.Create(wanted)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		conditions []condition
		want       string
	}{
		"no type":                {[]condition{{Status: corev1.ConditionTrue}}, "status.conditions[0].type: Required value"},
		"no status":              {[]condition{{Type: "Seen"}}, "status.conditions[0].status: Required value"},
		"another status":         {[]condition{{Type: "Seen", Status: "Maybe"}}, `status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
		"approval is never half": {[]condition{{Type: "Approved", Status: corev1.ConditionFalse}}, `status.conditions[0].status: Unsupported value: "False": supported values: "True"`},
		"twice":                  {[]condition{failed(), failed()}, `status.conditions[1].type: Duplicate value: "Failed"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Update(wanted.Name, "approval", func(obj runtime.Object) { obj.(*request).Status.Conditions = tc.conditions })
			require.ErrorContains(t, err, tc.want)
		})
	}
}
