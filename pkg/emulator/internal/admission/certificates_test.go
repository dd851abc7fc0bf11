package admission_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/admission"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

// signingRequest asks a signer for a certificate of some groups.
func signingRequest(t *testing.T, signer string, groups ...string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{Organization: groups}}, key)
	require.NoError(t, err)
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: signer, Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		},
	}
}

func TestWhoMayApproveAndSign(t *testing.T) {
	const approve, sign = `user not permitted to approve requests with signerName "example.com/a"`, `user not permitted to sign requests with signerName "example.com/a"`
	condition := func(r *certificatesv1.CertificateSigningRequest) {
		r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: "Failed", Status: corev1.ConditionTrue}}
	}
	for name, tc := range map[string]struct {
		subresource string
		change      func(*certificatesv1.CertificateSigningRequest)
		may         map[string]string // the verb by the name of a signer
		disabled    []string
		want        string
	}{
		"nobody approves unless told so":  {subresource: "approval", change: condition, want: approve},
		"for the signer":                  {subresource: "approval", change: condition, may: map[string]string{"example.com/a": "approve"}},
		"for all of the domain":           {subresource: "approval", change: condition, may: map[string]string{"example.com/*": "approve"}},
		"not for another signer":          {subresource: "approval", change: condition, may: map[string]string{"example.com/b": "approve"}, want: approve},
		"signing is not approving":        {subresource: "approval", change: condition, may: map[string]string{"example.com/a": "sign"}, want: approve},
		"nobody signs unless told so":     {subresource: "status", change: condition, want: sign},
		"a signer signs":                  {subresource: "status", change: condition, may: map[string]string{"example.com/a": "sign"}},
		"nothing is signed":               {subresource: "status"},
		"the request itself is for all":   {subresource: "", change: condition},
		"nothing is asked without plugin": {subresource: "approval", change: condition, disabled: []string{admission.CertificateApproval}},
	} {
		t.Run(name, func(t *testing.T) {
			chain, err := admission.New(admission.Config{
				Storages: registrytest.New(t, features.Gates{}), Disabled: tc.disabled,
				Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
					if a.GetResource() == "signers" && a.GetAPIGroup() == certificatesv1.GroupName && tc.may[a.GetName()] == a.GetVerb() {
						return authorizer.DecisionAllow, "", nil
					}
					return authorizer.DecisionNoOpinion, "", nil
				}),
			})
			require.NoError(t, err)
			stored := signingRequest(t, "example.com/a")
			changed := stored.DeepCopy()
			if tc.change != nil {
				tc.change(changed)
			}
			attributes := k8sadmission.NewAttributesRecord(changed, stored, certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"), "", "r",
				certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"), tc.subresource, k8sadmission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "ann"})
			err = chain.(k8sadmission.ValidationInterface).Validate(t.Context(), attributes, nil)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestNobodyBecomesAnAdministratorByCertificate(t *testing.T) {
	const refused = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
	chain, err := admission.New(admission.Config{Storages: registrytest.New(t, features.Gates{})})
	require.NoError(t, err)
	unreadable := signingRequest(t, certificatesv1.KubeAPIServerClientSignerName)
	unreadable.Spec.Request = []byte("none")
	for name, tc := range map[string]struct {
		request *certificatesv1.CertificateSigningRequest
		want    string
	}{
		"an administrator":          {signingRequest(t, certificatesv1.KubeAPIServerClientSignerName, "dev", "system:masters"), refused},
		"somebody else":             {signingRequest(t, certificatesv1.KubeAPIServerClientSignerName, "dev"), ""},
		"that of another signer":    {signingRequest(t, "example.com/a", "system:masters"), ""},
		"what is no request at all": {unreadable, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := k8sadmission.NewAttributesRecord(tc.request, nil, certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"), "", "r",
				certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"), "", k8sadmission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "ann"})
			err := chain.(k8sadmission.ValidationInterface).Validate(t.Context(), attributes, nil)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}
