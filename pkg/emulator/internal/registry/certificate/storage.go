package certificate

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storages of certificatesigningrequests, certificatesigningrequests/status and
// certificatesigningrequests/approval.
func New(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped = true
	rules := strategy{Strategy: base, clock: c.Clock}
	main, err := resource.New(resource.Definition{
		Resource:   schema.GroupResource{Group: certificatesv1.GroupName, Resource: "certificatesigningrequests"},
		Singular:   "certificatesigningrequest",
		ShortNames: []string{"csr"},
		New:        func() runtime.Object { return &certificatesv1.CertificateSigningRequest{} },
		NewList:    func() runtime.Object { return &certificatesv1.CertificateSigningRequestList{} },
		Strategy:   rules,
		Fields: func(obj runtime.Object) fields.Set {
			return fields.Set{"spec.signerName": obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName}
		},
		Table: newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"certificatesigningrequests":          main,
		"certificatesigningrequests/status":   resource.NewSubresource(main, statusStrategy{rules}).WithTable(),
		"certificatesigningrequests/approval": resource.NewSubresource(main, approvalStrategy{rules}),
	}, nil
}

func newTable(now clock.PassiveClock) rest.TableConvertor {
	// Kubernetes describes the columns in the words of the older version.
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(), resource.AgeColumn(), resource.Column("SignerName", spec["signerName"]),
		resource.Column("Requestor", spec["request"]), resource.Column("RequestedDuration", spec["expirationSeconds"]),
		resource.Column("Condition", certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"]),
	}, func(r *certificatesv1.CertificateSigningRequest) resource.Row {
		asked := "<none>"
		if seconds := r.Spec.ExpirationSeconds; seconds != nil {
			asked = duration.HumanDuration(time.Duration(*seconds) * time.Second)
		}
		return resource.Row{Cells: []any{
			r.Name, resource.Since(now, r.CreationTimestamp.Time), resource.OrNone(r.Spec.SignerName), r.Spec.Username, asked, state(&r.Status),
		}}
	})
}

// state says in a word or some how far a request has come. A denial outweighs an approval.
func state(status *certificatesv1.CertificateSigningRequestStatus) string {
	text := "Pending"
	switch {
	case count(status, certificatesv1.CertificateDenied) > 0:
		text = "Denied"
	case count(status, certificatesv1.CertificateApproved) > 0:
		text = "Approved"
	}
	if count(status, certificatesv1.CertificateFailed) > 0 {
		text += ",Failed"
	}
	if len(status.Certificate) > 0 {
		text += ",Issued"
	}
	return text
}
