package emulator

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/serviceaccount"
	"github.com/musterkube/muster/pkg/emulator/internal/satoken"
)

// administratorName is the user behind Options.Token, named as kubeadm names the first user of a cluster.
const administratorName = "kubernetes-admin"

// errInvalidToken is what a TokenReview says of a token that nobody has. Its text is that of Kubernetes.
var errInvalidToken = errors.New("invalid bearer token")

// healthPaths are open to everybody, as they are to the probes of a kube-apiserver.
var healthPaths = map[string]bool{"/healthz": true, "/livez": true, "/readyz": true}

// authentication knows bearer tokens: the administrator's, those of Options.Tokens, and those that the server issues
// for ServiceAccounts.
type authentication struct {
	// users are by the digests of their tokens, so that finding one takes as long whatever the token is like.
	users     map[[sha256.Size]byte]user.Info
	issuer    *satoken.Issuer
	objects   satoken.Getter
	anonymous user.Info
}

var (
	_ authenticator.Request = (*authentication)(nil)
	_ authenticator.Token   = (*authentication)(nil)
)

// newAuthentication returns the authentication of a server; serve completes it.
func newAuthentication(options Options, issuer *satoken.Issuer) *authentication {
	a := &authentication{
		users:     map[[sha256.Size]byte]user.Info{},
		issuer:    issuer,
		anonymous: &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}},
	}
	a.users[sha256.Sum256([]byte(options.Token))] = &user.DefaultInfo{
		Name: administratorName, Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated},
	}
	for token, named := range options.Tokens {
		a.users[sha256.Sum256([]byte(token))] = named.info()
	}
	return a
}

// serve has the objects that tokens of ServiceAccounts are bound to looked up in served.
func (a *authentication) serve(served storages) {
	core := served[corev1.SchemeGroupVersion]
	a.objects = func(ctx context.Context, resource, namespace, name string) (metav1.Object, error) {
		obj, err := serviceaccount.Get(ctx, core, resource, namespace, name)
		if err != nil {
			return nil, err
		}
		return meta.Accessor(obj)
	}
}

// AuthenticateRequest returns whose token a request has and, for the paths of probes, nobody in particular for none.
// Everything else is not ok, without an error: an error would be logged for each wrong token.
func (a *authentication) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	header := r.Header.Get("Authorization")
	if header == "" && healthPaths[r.URL.Path] {
		return &authenticator.Response{User: a.anonymous}, true, nil
	}
	kind, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(kind, "bearer") {
		return nil, false, nil
	}
	response, ok, err := a.AuthenticateToken(r.Context(), strings.TrimSpace(token))
	if err != nil || !ok {
		return nil, false, nil //nolint:nilerr // said above
	}
	return response, true, nil
}

// AuthenticateToken returns whose a token is, if it is for one of the audiences in ctx, or for this server if ctx has
// none. The error says why it is nobody's.
func (a *authentication) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	audiences, ok := authenticator.AudiencesFrom(ctx)
	if !ok || len(audiences) == 0 {
		audiences = authenticator.Audiences{satoken.Name}
	}
	if known, ok := a.users[sha256.Sum256([]byte(token))]; ok {
		// These tokens say nothing of audiences: they are for this server.
		if !audiences.Has(satoken.Name) {
			return nil, false, errInvalidToken
		}
		return &authenticator.Response{User: known, Audiences: authenticator.Audiences{satoken.Name}}, true, nil
	}
	claims, err := a.issuer.Read(token, audiences)
	if errors.Is(err, satoken.ErrNotOurs) {
		return nil, false, errInvalidToken
	}
	var who user.Info
	if err == nil {
		who, err = a.issuer.Authenticate(ctx, claims, a.objects)
	}
	if err != nil {
		return nil, false, utilerrors.NewAggregate([]error{errInvalidToken, err})
	}
	authenticated := *who.(*user.DefaultInfo)
	authenticated.Groups = append(authenticated.Groups, user.AllAuthenticated)
	return &authenticator.Response{User: &authenticated, Audiences: claims.Audiences}, true, nil
}
