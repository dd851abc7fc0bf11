package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

// immortal are the namespaces that cannot be deleted.
var immortal = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

type namespaceLifecycle struct {
	*admission.Handler
	phases *phases
}

var _ admission.MutationInterface = namespaceLifecycle{}

func newNamespaceLifecycle(of *phases) namespaceLifecycle {
	return namespaceLifecycle{admission.NewHandler(admission.Create, admission.Delete), of}
}

// Admit implements admission.MutationInterface. It changes nothing, but must come before the plugins that do.
func (p namespaceLifecycle) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	isNamespace := a.GetKind().GroupKind() == corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind()
	if a.GetOperation() == admission.Delete {
		if isNamespace && slices.Contains(immortal, a.GetName()) {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), errors.New("this namespace may not be deleted"))
		}
		return nil
	}
	if isNamespace || a.GetNamespace() == "" {
		return nil
	}
	going, err := p.phases.terminating(ctx, a.GetNamespace())
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return apierrors.NewInternalError(err)
	case going:
		return terminating(a)
	}
	return nil
}

// terminating refuses an object because its namespace is going. Controllers tell this refusal from others by its cause.
func terminating(a admission.Attributes) error {
	err := admission.NewForbidden(a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.GetNamespace()))
	if status := (*apierrors.StatusError)(nil); errors.As(err, &status) {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{
			Type:    corev1.NamespaceTerminatingCause,
			Message: fmt.Sprintf("namespace %s is being terminated", a.GetNamespace()),
			Field:   "metadata.namespace",
		})
	}
	return err
}
