package pod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// legacyBinding serves bindings, the resource by which the first clients bound pods.
type legacyBinding struct{ binding *binding }

var (
	_ rest.Storage              = (*legacyBinding)(nil)
	_ rest.Creater              = (*legacyBinding)(nil)
	_ rest.Scoper               = (*legacyBinding)(nil)
	_ rest.SingularNameProvider = (*legacyBinding)(nil)
)

// New implements rest.Storage.
func (l *legacyBinding) New() runtime.Object { return l.binding.New() }

// Destroy implements rest.Storage.
func (l *legacyBinding) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (l *legacyBinding) NamespaceScoped() bool { return true }

// GetSingularName implements rest.SingularNameProvider.
func (l *legacyBinding) GetSingularName() string { return "binding" }

// Create implements rest.Creater.
func (l *legacyBinding) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding object: %T", obj))
	}
	return l.binding.Create(ctx, request.Name, request, validate, options)
}
