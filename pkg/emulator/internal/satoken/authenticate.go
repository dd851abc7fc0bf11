package satoken

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// ErrInvalidated is returned for a token whose pod, secret or node is gone.
var ErrInvalidated = errors.New("service account token has been invalidated")

// Getter reads the metadata of an object of core/v1 by its resource, such as pods. The namespace is empty for nodes.
type Getter func(ctx context.Context, resource, namespace, name string) (metav1.Object, error)

// Authenticate returns the user that the claims of a token speak of, if the ServiceAccount and the objects that the token
// is bound to are there still, with the same UID. What is being deleted counts for a minute longer, as in Kubernetes.
func (i *Issuer) Authenticate(ctx context.Context, claims Claims, get Getter) (user.Info, error) {
	namespace := claims.Namespace
	account, err := get(ctx, "serviceaccounts", namespace, claims.ServiceAccount.Name)
	if err != nil {
		return nil, err
	}
	if uid := string(account.GetUID()); uid != claims.ServiceAccount.UID {
		return nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", uid, claims.ServiceAccount.UID)
	}
	if i.gone(account) {
		return nil, fmt.Errorf("service account %s/%s has been deleted", namespace, claims.ServiceAccount.Name)
	}
	info := serviceaccount.ServiceAccountInfo{
		Namespace: namespace, Name: claims.ServiceAccount.Name, UID: claims.ServiceAccount.UID, CredentialID: "JTI=" + claims.ID,
	}
	if claims.Secret != nil {
		if err := i.check(ctx, get, "secrets", namespace, *claims.Secret); err != nil {
			return nil, err
		}
	}
	if claims.Pod != nil {
		if err := i.check(ctx, get, "pods", namespace, *claims.Pod); err != nil {
			return nil, err
		}
		info.PodName, info.PodUID = claims.Pod.Name, claims.Pod.UID
	}
	if claims.Node != nil {
		if claims.Pod == nil { // of a pod's token the node is a piece of information only
			if err := i.check(ctx, get, "nodes", metav1.NamespaceNone, *claims.Node); err != nil {
				return nil, err
			}
		}
		info.NodeName, info.NodeUID = claims.Node.Name, claims.Node.UID
	}
	return info.UserInfo(), nil
}

// kindsOf name one object of a resource in messages.
var kindsOf = map[string]string{"pods": "pod", "nodes": "node", "secrets": "secret"}

// check returns an error unless the object that a token is bound to is there.
func (i *Issuer) check(ctx context.Context, get Getter, resource, namespace string, bound Reference) error {
	object, err := get(ctx, resource, namespace, bound.Name)
	if err != nil {
		return ErrInvalidated
	}
	if uid := string(object.GetUID()); uid != bound.UID {
		kind := kindsOf[resource]
		return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, uid, kind, bound.UID)
	}
	if i.gone(object) {
		return ErrInvalidated
	}
	return nil
}

// gone tells whether an object has been waiting to be deleted for longer than a token outlives it.
func (i *Issuer) gone(object metav1.Object) bool {
	deleted := object.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(i.clock.Now().Add(-leeway))
}

// leeway is how far clocks may be apart.
const leeway time.Duration = jwt.DefaultLeeway
