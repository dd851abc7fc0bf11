package emulator

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// administratorName is the user behind the token, named as kubeadm names the first user of a cluster.
const administratorName = "kubernetes-admin"

// healthPaths are open to everybody, as they are to the probes of a kube-apiserver.
var healthPaths = map[string]bool{"/healthz": true, "/livez": true, "/readyz": true}

// tokenAuthenticator knows one bearer token, the administrator's.
type tokenAuthenticator struct {
	digest        [sha256.Size]byte
	administrator user.Info
	anonymous     user.Info
}

var _ authenticator.Request = (*tokenAuthenticator)(nil)

func newTokenAuthenticator(token string) *tokenAuthenticator {
	return &tokenAuthenticator{
		digest:        sha256.Sum256([]byte(token)),
		administrator: &user.DefaultInfo{Name: administratorName, Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}},
		anonymous:     &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}},
	}
}

// AuthenticateRequest returns the administrator for the right token and, for the paths of probes, nobody in particular
// for none. Everything else is not ok, without an error: an error would be logged for each wrong token.
func (a *tokenAuthenticator) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	header := r.Header.Get("Authorization")
	if header == "" && healthPaths[r.URL.Path] {
		return &authenticator.Response{User: a.anonymous}, true, nil
	}
	kind, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(kind, "bearer") {
		return nil, false, nil
	}
	digest := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if subtle.ConstantTimeCompare(digest[:], a.digest[:]) != 1 {
		return nil, false, nil
	}
	return &authenticator.Response{User: a.administrator}, true, nil
}
