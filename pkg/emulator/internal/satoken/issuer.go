package satoken

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/utils/clock"
)

// Name is the issuer of the tokens, and the audience of those that do not say otherwise: that of a cluster that kubeadm
// makes.
const Name = "https://kubernetes.default.svc.cluster.local"

// Errors of tokens that were issued here. Their texts are those of Kubernetes.
var (
	// ErrNotOurs is returned for what is no token of this issuer, or is not signed by its key.
	ErrNotOurs = errors.New("not a token of this server's")
	// ErrExpired is returned for a token whose time is over.
	ErrExpired = errors.New("service account token has expired")
	// ErrNotYet is returned for a token whose time is to come.
	ErrNotYet = errors.New("service account token is not valid yet")
)

// Reference names an object that a token is bound to.
type Reference struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Claims are what a token says.
type Claims struct {
	// ID is the token's own.
	ID string `json:"-"`
	// Audiences are whom the token is for.
	Audiences []string `json:"-"`
	// Namespace is that of the ServiceAccount, and of the pod or secret.
	Namespace      string     `json:"namespace,omitempty"`
	ServiceAccount Reference  `json:"serviceaccount"`
	Pod            *Reference `json:"pod,omitempty"`
	Secret         *Reference `json:"secret,omitempty"`
	// Node is what a token is bound to, or where its pod is.
	Node *Reference `json:"node,omitempty"`
}

// private wraps the claims that are Kubernetes' own.
type private struct {
	Kubernetes Claims `json:"kubernetes.io"`
}

// Issuer issues tokens. The zero value is not ready: use [New].
type Issuer struct {
	clock clock.PassiveClock
	key   func() (*ecdsa.PrivateKey, error)

	mu sync.Mutex
	// verified are tokens by their digests whose signatures were found to be right, which they stay. Checking one takes
	// longer than all the rest of a small request.
	verified map[[sha256.Size]byte]signed
}

// signed is what a token says.
type signed struct {
	public jwt.Claims
	own    private
}

// maxVerified is how many tokens are kept as verified. When there are more, all are forgotten.
const maxVerified = 1024

// New returns an issuer that tells the time by clock. Its key is made with the first token.
func New(clock clock.PassiveClock) *Issuer {
	return &Issuer{clock: clock, verified: map[[sha256.Size]byte]signed{}, key: sync.OnceValues(func() (*ecdsa.PrivateKey, error) {
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	})}
}

// Issue returns a token with the claims, valid from now for the time given. It gives it an ID of its own.
func (i *Issuer) Issue(claims Claims, life time.Duration) (string, error) {
	key, err := i.key()
	if err != nil {
		return "", fmt.Errorf("making the key of tokens: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	now := i.clock.Now()
	token, err := jwt.Signed(signer).Claims(private{claims}).Claims(jwt.Claims{
		Issuer:    Name,
		Subject:   serviceaccount.MakeUsername(claims.Namespace, claims.ServiceAccount.Name),
		Audience:  claims.Audiences,
		ID:        string(uuid.NewUUID()),
		IssuedAt:  jwt.NewNumericDate(now),
		NotBefore: jwt.NewNumericDate(now),
		Expiry:    jwt.NewNumericDate(now.Add(life)),
	}).Serialize()
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return token, nil
}

// Read returns the claims of a token that this issuer signed, that is valid now and that is for one of audiences; of
// the audiences of the token those are left.
func (i *Issuer) Read(token string, audiences []string) (Claims, error) {
	if strings.Count(token, ".") != 2 {
		return Claims{}, ErrNotOurs // spares what is surely no JWT the making of a key
	}
	public, own, err := i.verify(token)
	if err != nil {
		return Claims{}, err
	}
	switch err := public.ValidateWithLeeway(jwt.Expected{Time: i.clock.Now()}, jwt.DefaultLeeway); {
	case errors.Is(err, jwt.ErrExpired):
		return Claims{}, ErrExpired
	case err != nil:
		return Claims{}, ErrNotYet
	}
	claims := own.Kubernetes
	claims.ID = public.ID
	for _, audience := range public.Audience {
		if slices.Contains(audiences, audience) {
			claims.Audiences = append(claims.Audiences, audience)
		}
	}
	if len(claims.Audiences) == 0 {
		return Claims{}, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(public.Audience), audiences)
	}
	return claims, nil
}

// verify returns what a token says if this issuer signed it.
func (i *Issuer) verify(token string) (jwt.Claims, private, error) {
	digest := sha256.Sum256([]byte(token))
	i.mu.Lock()
	known, ok := i.verified[digest]
	i.mu.Unlock()
	if ok {
		return known.public, known.own, nil
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return jwt.Claims{}, private{}, ErrNotOurs
	}
	key, err := i.key()
	if err != nil {
		return jwt.Claims{}, private{}, fmt.Errorf("making the key of tokens: %w", err)
	}
	if err := parsed.Claims(&key.PublicKey, &known.public, &known.own); err != nil || known.public.Issuer != Name {
		return jwt.Claims{}, private{}, ErrNotOurs
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.verified) >= maxVerified {
		clear(i.verified)
	}
	i.verified[digest] = known
	return known.public, known.own, nil
}
