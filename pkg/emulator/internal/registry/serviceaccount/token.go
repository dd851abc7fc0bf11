package serviceaccount

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/satoken"
)

const (
	// shortestLife and longestLife are how long a token may be valid, in seconds.
	shortestLife = 10 * 60
	longestLife  = 1 << 32
)

// Token serves serviceaccounts/token, which makes tokens. A pod or a node that a token is bound to is looked up in the
// storages beside.
type Token struct {
	storages map[string]rest.Storage
	issuer   *satoken.Issuer
	clock    clock.PassiveClock
}

var (
	_ rest.NamedCreater                   = (*Token)(nil)
	_ rest.GroupVersionKindProvider       = (*Token)(nil)
	_ rest.SubresourceObjectMetaPreserver = (*Token)(nil)
)

// NewToken returns the storage of serviceaccounts/token; storages are those of core/v1.
func NewToken(storages map[string]rest.Storage, issuer *satoken.Issuer, clock clock.PassiveClock) *Token {
	return &Token{storages: storages, issuer: issuer, clock: clock}
}

var requestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// New implements rest.Storage.
func (*Token) New() runtime.Object { return &authenticationv1.TokenRequest{} }

// Destroy implements rest.Storage.
func (*Token) Destroy() {}

// GroupVersionKind implements rest.GroupVersionKindProvider.
func (*Token) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind { return requestKind }

// PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate implements rest.SubresourceObjectMetaPreserver: the UID in a
// request is that of the ServiceAccount.
func (*Token) PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() bool { return true }

// Create implements rest.NamedCreater.
func (t *Token) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(*authenticationv1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a TokenRequest: %T", obj))
	}
	account, err := t.account(ctx, name, request)
	if err != nil {
		return nil, err
	}
	now := t.clock.Now()
	request.Name, request.Namespace, request.UID = account.Name, account.Namespace, account.UID
	request.CreationTimestamp = metav1.NewTime(now)
	request.Status = authenticationv1.TokenRequestStatus{}
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{satoken.Name}
	}
	if errs := validateLife(request.Spec.ExpirationSeconds); len(errs) > 0 {
		return nil, apierrors.NewInvalid(requestKind.GroupKind(), "", errs)
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	claims := satoken.Claims{
		Audiences: request.Spec.Audiences, Namespace: account.Namespace,
		ServiceAccount: satoken.Reference{Name: account.Name, UID: string(account.UID)},
	}
	if err := t.bind(ctx, &claims, request.Spec.BoundObjectRef); err != nil {
		return nil, err
	}
	life := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	token, err := t.issuer.Issue(claims, life)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	request.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(now.Add(life))}
	return request, nil
}

// account returns the ServiceAccount that a request is for, if what the request says of it is right.
func (t *Token) account(ctx context.Context, name string, request *authenticationv1.TokenRequest) (*corev1.ServiceAccount, error) {
	wrong := func(child, value, message string) error {
		return apierrors.NewInvalid(requestKind.GroupKind(), name, field.ErrorList{field.Invalid(field.NewPath("metadata", child), value, message)})
	}
	namespace, ok := genericapirequest.NamespaceFrom(ctx)
	switch {
	case !ok:
		return nil, apierrors.NewBadRequest("namespace is required")
	case request.Name != "" && request.Name != name:
		return nil, wrong("name", request.Name, "must match the service account name if specified")
	case request.Namespace != "" && request.Namespace != namespace:
		return nil, wrong("namespace", request.Namespace, "must match the service account namespace if specified")
	}
	obj, err := t.get(ctx, "serviceaccounts", namespace, name)
	if err != nil {
		return nil, err
	}
	account := obj.(*corev1.ServiceAccount)
	if request.UID != "" && request.UID != account.UID {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: requestKind.Group, Resource: requestKind.Kind}, name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", request.UID, account.UID))
	}
	return account, nil
}

func validateLife(seconds *int64) field.ErrorList {
	path := field.NewPath("spec", "expirationSeconds")
	switch {
	case seconds == nil: // the defaults have seen to it, for requests
		return field.ErrorList{field.Required(path, "")}
	case *seconds < shortestLife:
		return field.ErrorList{field.Invalid(path, *seconds, "may not specify a duration less than 10 minutes")}
	case *seconds > longestLife:
		return field.ErrorList{field.Invalid(path, *seconds, "may not specify a duration larger than 2^32 seconds")}
	}
	return nil
}

// bind adds to the claims what the token is to be bound to.
func (t *Token) bind(ctx context.Context, claims *satoken.Claims, bound *authenticationv1.BoundObjectReference) error {
	if bound == nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(bound.APIVersion, bound.Kind)
	resources := map[string]string{"Pod": "pods", "Node": "nodes", "Secret": "secrets"}
	resource, ok := resources[kind.Kind]
	if !ok || kind.Group != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", kind))
	}
	namespace := claims.Namespace
	if resource == "nodes" {
		namespace = metav1.NamespaceNone
	}
	obj, err := t.get(ctx, resource, namespace, bound.Name)
	if err != nil {
		return err
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	reference := &satoken.Reference{Name: object.GetName(), UID: string(object.GetUID())}
	switch resource {
	case "secrets":
		claims.Secret = reference
	case "nodes":
		claims.Node = reference
	case "pods":
		claims.Pod = reference
		if claims.Node, err = t.nodeOf(ctx, obj.(*corev1.Pod), claims.ServiceAccount.Name); err != nil {
			return err
		}
	}
	if bound.UID != "" && bound.UID != types.UID(reference.UID) {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, bound.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", bound.UID))
	}
	return nil
}

// nodeOf returns the node that a pod of the named ServiceAccount is on, nil if it is on none.
func (t *Token) nodeOf(ctx context.Context, pod *corev1.Pod, account string) (*satoken.Reference, error) {
	if pod.Spec.ServiceAccountName != account {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account))
	}
	if pod.Spec.NodeName == "" {
		return nil, nil
	}
	node := &satoken.Reference{Name: pod.Spec.NodeName}
	obj, err := t.get(ctx, "nodes", metav1.NamespaceNone, pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err): // its name is worth something, too
	case err != nil:
		return nil, apierrors.NewInternalError(err)
	default:
		node.UID = string(obj.(*corev1.Node).UID)
	}
	return node, nil
}

// get reads an object of core/v1 as a request for it would.
func (t *Token) get(ctx context.Context, resource, namespace, name string) (runtime.Object, error) {
	return Get(ctx, t.storages, resource, namespace, name)
}

// Get reads an object of core/v1 from its storage.
func Get(ctx context.Context, storages map[string]rest.Storage, resource, namespace, name string) (runtime.Object, error) {
	getter, ok := storages[resource].(rest.Getter)
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource(resource), name)
	}
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, Verb: "get", APIVersion: "v1", Resource: resource, Namespace: namespace, Name: name,
	})
	return getter.Get(ctx, name, &metav1.GetOptions{})
}
