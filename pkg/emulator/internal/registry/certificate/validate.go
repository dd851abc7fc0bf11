package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// legacySigner is what requests of older versions had that named none.
	legacySigner = "kubernetes.io/legacy-unknown"
	// leastSeconds is the shortest life that may be asked for.
	leastSeconds = 600
	// longestSigner has room for a domain, a slash, and a path of a label and a subdomain.
	longestSigner = 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2
)

var (
	conditionsPath  = field.NewPath("status", "conditions")
	certificatePath = field.NewPath("status", "certificate")

	// decisions are the conditions that approval sets.
	decisions = []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied}
	// opposite is what excludes a decision.
	opposite = map[certificatesv1.RequestConditionType]certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved: certificatesv1.CertificateDenied,
		certificatesv1.CertificateDenied:   certificatesv1.CertificateApproved,
	}
	// lasting conditions stay once they are set, and are never anything but true.
	lasting = append(slices.Clone(decisions), certificatesv1.CertificateFailed)

	usages = []certificatesv1.KeyUsage{
		certificatesv1.UsageAny, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning,
		certificatesv1.UsageContentCommitment, certificatesv1.UsageCRLSign, certificatesv1.UsageDataEncipherment,
		certificatesv1.UsageDecipherOnly, certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection,
		certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
		certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
		certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning,
		certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageSMIME, certificatesv1.UsageTimestamping,
	}
)

// Parse returns the PKCS #10 request in a PEM block, or an error if there is no such.
func Parse(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// validateSpec checks what is asked for. It never changes, so that a create is the only time.
func validateSpec(spec *certificatesv1.CertificateSigningRequestSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	parsed, err := Parse(spec.Request)
	if err == nil {
		err = parsed.CheckSignature()
	}
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("request"), spec.Request, err.Error()))
	}
	errs = append(errs, validateUsages(spec.Usages, path.Child("usages"))...)
	signer := path.Child("signerName")
	if spec.SignerName == legacySigner {
		errs = append(errs, field.Invalid(signer, spec.SignerName, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, validateSigner(spec.SignerName, signer)...)
	}
	if seconds := spec.ExpirationSeconds; seconds != nil && *seconds < leastSeconds {
		errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *seconds, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return errs
}

func validateUsages(asked []certificatesv1.KeyUsage, path *field.Path) field.ErrorList {
	if len(asked) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	var unknown, twice field.ErrorList
	for i, usage := range asked {
		if !slices.Contains(usages, usage) {
			unknown = append(unknown, field.NotSupported(path.Index(i), usage, slices.Sorted(slices.Values(usages))))
		}
		if slices.Contains(asked[:i], usage) {
			twice = append(twice, field.Duplicate(path.Index(i), usage))
		}
	}
	return append(unknown, twice...)
}

// validateSigner wants the name of a signer: a domain and, behind a slash, a path.
func validateSigner(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	domain, rest, found := strings.Cut(name, "/")
	if !found || strings.Contains(rest, "/") {
		return field.ErrorList{field.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		errs = append(errs, field.TooLong(path, "", validation.DNS1123SubdomainMaxLength))
	}
	errs = append(errs, validateLabels(domain, path, validation.IsDNS1123Label)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, validateLabels(rest, path, validation.IsDNS1123Subdomain)...)
	if len(name) > longestSigner {
		errs = append(errs, field.TooLong(path, "", longestSigner))
	}
	return errs
}

// validateLabels wants the parts between dots to be names, and tells of the first that is not.
func validateLabels(name string, path *field.Path, check func(string) []string) field.ErrorList {
	var errs field.ErrorList
	for label := range strings.SplitSeq(name, ".") {
		for _, message := range check(label) {
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("validating label %q: %s", label, message)))
		}
		if len(errs) > 0 {
			break
		}
	}
	return errs
}

// validateConditions checks conditions of any type.
func validateConditions(conditions []certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, condition := range conditions {
		if condition.Type == "" {
			errs = append(errs, field.Required(path.Index(i).Child("type"), ""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		if slices.Contains(lasting, condition.Type) {
			allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch status := path.Index(i).Child("status"); {
		case condition.Status == "":
			errs = append(errs, field.Required(status, ""))
		case !slices.Contains(allowed, condition.Status):
			errs = append(errs, field.NotSupported(status, condition.Status, allowed))
		}
		if other, decides := opposite[condition.Type]; decides && seen[other] {
			errs = append(errs, field.Invalid(path, condition.Type, "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[condition.Type] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("type"), condition.Type))
		}
		seen[condition.Type] = true
	}
	return errs
}

// validateKept wants lasting conditions to stay.
func validateKept(changed, stored *request) field.ErrorList {
	var errs field.ErrorList
	for _, kept := range lasting {
		if count(&changed.Status, kept) < count(&stored.Status, kept) {
			errs = append(errs, field.Forbidden(conditionsPath, fmt.Sprintf("updates may not remove a condition of type %q", kept)))
		}
	}
	return errs
}

// validateUndecided wants no conditions of approval beyond those that are there; those are what they were, by then.
func validateUndecided(changed, stored *request) field.ErrorList {
	var errs field.ErrorList
	for _, decision := range decisions {
		if count(&changed.Status, decision) > count(&stored.Status, decision) {
			errs = append(errs, field.Forbidden(conditionsPath, fmt.Sprintf("updates may not add a condition of type %q", decision)))
		}
	}
	return errs
}

// validateCertificate checks what was issued, which is set once.
func validateCertificate(changed, stored []byte) field.ErrorList {
	if bytes.Equal(changed, stored) {
		return nil
	}
	var errs field.ErrorList
	if err := parseCertificates(changed); err != nil {
		errs = append(errs, field.Invalid(certificatePath, "<certificate data>", err.Error()))
	}
	if len(stored) > 0 {
		errs = append(errs, field.Forbidden(certificatePath, "updates may not modify existing certificate content"))
	}
	return errs
}

// parseCertificates wants PEM blocks of certificates, at least one, or nothing at all.
func parseCertificates(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	rest, blocks := text, 0
	for ; ; blocks++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		found, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
