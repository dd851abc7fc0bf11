package emulator

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"
)

// administratorName is the user behind the token, named as kubeadm names the first user of a cluster.
const administratorName = "kubernetes-admin"

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

// AuthenticateRequest returns the administrator for the right token, and nobody in particular for none, or for
// credentials of other kinds. A wrong token is not ok, without an error: an error would be logged for each.
func (a *tokenAuthenticator) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	nobody := &authenticator.Response{User: a.anonymous}
	parts := strings.SplitN(strings.TrimSpace(r.Header.Get("Authorization")), " ", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[0], "bearer") {
		return nobody, true, nil
	}
	if parts[1] == "" {
		warning.AddWarning(r.Context(), "", "the provided Authorization header contains extra space before the bearer token, and is ignored")
		return nobody, true, nil
	}
	digest := sha256.Sum256([]byte(parts[1]))
	if subtle.ConstantTimeCompare(digest[:], a.digest[:]) != 1 {
		return nil, false, nil
	}
	return &authenticator.Response{User: a.administrator}, true, nil
}
