package emulator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/utils/clock"
)

// certificateLife is how long certificates are valid: longer than any process that holds one.
const certificateLife = 10 * 365 * 24 * time.Hour

// authority signs the certificates of one server. It lives in memory and is made when the server first listens:
// P-256 keys cost a fraction of a millisecond, RSA keys would cost more than the whole start.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of the certificate authority: %w", err)
	}
	template, err := certificateTemplate("muster-emulator-ca")
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	certificate, err := sign(template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("making the certificate authority: %w", err)
	}
	return &authority{certificate: certificate, key: key}, nil
}

// pem is the certificate in the form that kubeconfig files hold.
func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// serving makes a certificate for a server with the given names and addresses, and with those of loopback.
func (a *authority) serving(hosts []string, ips []net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the key of the serving certificate: %w", err)
	}
	template, err := certificateTemplate("muster-emulator")
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = append([]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, hosts...)
	template.IPAddresses = append([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, ips...)
	certificate, err := sign(template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the serving certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate.Raw, a.certificate.Raw}, PrivateKey: key, Leaf: certificate}, nil
}

func certificateTemplate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	now := clock.RealClock{}.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // for clients whose clock is behind
		NotAfter:     now.Add(certificateLife),
	}, nil
}

func sign(template, parent *x509.Certificate, public *ecdsa.PublicKey, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}
