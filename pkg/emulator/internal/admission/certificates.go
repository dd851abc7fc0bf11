package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/certificate"
)

// signingRequests is what the plugins of this file are about.
var signingRequests = schema.GroupResource{Group: certificatesv1.GroupName, Resource: "certificatesigningrequests"}

// certificateApproval is the plugin CertificateApproval: who approves or denies a request needs the verb approve for its
// signer.
type certificateApproval struct {
	*admission.Handler
	authorizer authorizer.Authorizer
}

// certificateSigning is the plugin CertificateSigning: who issues a certificate needs the verb sign for its signer.
type certificateSigning struct {
	*admission.Handler
	authorizer authorizer.Authorizer
}

// certificateSubject is the plugin CertificateSubjectRestriction: nobody becomes an administrator by a certificate.
type certificateSubject struct{ *admission.Handler }

var (
	_ admission.ValidationInterface = certificateApproval{}
	_ admission.ValidationInterface = certificateSigning{}
	_ admission.ValidationInterface = certificateSubject{}
)

func newCertificateApproval(a authorizer.Authorizer) certificateApproval {
	return certificateApproval{admission.NewHandler(admission.Update), a}
}

func newCertificateSigning(a authorizer.Authorizer) certificateSigning {
	return certificateSigning{admission.NewHandler(admission.Update), a}
}

func newCertificateSubject() certificateSubject {
	return certificateSubject{admission.NewHandler(admission.Create)}
}

// Validate implements admission.ValidationInterface.
func (p certificateApproval) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	stored, ok := a.GetOldObject().(*certificatesv1.CertificateSigningRequest)
	if !ok || a.GetResource().GroupResource() != signingRequests || a.GetSubresource() != "approval" {
		return nil
	}
	if signer := stored.Spec.SignerName; !maySign(ctx, p.authorizer, a.GetUserInfo(), "approve", signer) {
		return admission.NewForbidden(a, fmt.Errorf("user not permitted to approve requests with signerName %q", signer))
	}
	return nil
}

// Validate implements admission.ValidationInterface.
func (p certificateSigning) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	stored, isStored := a.GetOldObject().(*certificatesv1.CertificateSigningRequest)
	changed, isChanged := a.GetObject().(*certificatesv1.CertificateSigningRequest)
	if !isStored || !isChanged || a.GetResource().GroupResource() != signingRequests || a.GetSubresource() != "status" {
		return nil
	}
	if equality.Semantic.DeepEqual(changed.Status, stored.Status) {
		return nil
	}
	if signer := stored.Spec.SignerName; !maySign(ctx, p.authorizer, a.GetUserInfo(), "sign", signer) {
		return admission.NewForbidden(a, fmt.Errorf("user not permitted to sign requests with signerName %q", signer))
	}
	return nil
}

// Validate implements admission.ValidationInterface.
func (certificateSubject) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	created, ok := a.GetObject().(*certificatesv1.CertificateSigningRequest)
	if !ok || !concerns(a, signingRequests) || created.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	parsed, err := certificate.Parse(created.Spec.Request)
	if err != nil {
		return admission.NewForbidden(a, fmt.Errorf("failed to parse CSR: %v", err)) //nolint:errorlint // The text is all that a client gets.
	}
	if slices.Contains(parsed.Subject.Organization, user.SystemPrivilegedGroup) {
		return admission.NewForbidden(a, fmt.Errorf("use of %s signer with %s group is not allowed",
			certificatesv1.KubeAPIServerClientSignerName, user.SystemPrivilegedGroup))
	}
	return nil
}

// maySign tells whether somebody has a verb for a signer, or for all signers of its domain. Signers are a resource that
// exists for this question alone.
func maySign(ctx context.Context, a authorizer.Authorizer, who user.Info, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		decision, _, err := a.Authorize(ctx, authorizer.AttributesRecord{
			User: who, Verb: verb, Name: name, APIGroup: certificatesv1.GroupName, APIVersion: "*", Resource: "signers", ResourceRequest: true,
		})
		if err == nil && decision == authorizer.DecisionAllow {
			return true
		}
	}
	return false
}
