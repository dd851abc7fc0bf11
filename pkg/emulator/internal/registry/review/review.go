package review

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// review serves one kind of question.
type review[T any, P interface {
	*T
	runtime.Object
}] struct {
	singular   string
	namespaced bool
	// check says what is wrong with a question, before admission sees it.
	check func(ctx context.Context, question P) error
	// answer fills in the status.
	answer func(ctx context.Context, question P) (P, error)
}

// New implements rest.Storage.
func (*review[T, P]) New() runtime.Object { return P(new(T)) }

// Destroy implements rest.Storage.
func (*review[T, P]) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (r *review[T, P]) NamespaceScoped() bool { return r.namespaced }

// GetSingularName implements rest.SingularNameProvider.
func (r *review[T, P]) GetSingularName() string { return r.singular }

// Create implements rest.Creater.
func (r *review[T, P]) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := obj.(P)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a question of the kind %T: %T", question, obj))
	}
	if r.check != nil {
		if err := r.check(ctx, question); err != nil {
			return nil, err
		}
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	return r.answer(ctx, question)
}

// asker returns who asks.
func asker(ctx context.Context) (user.Info, error) {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	return who, nil
}
