package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// Delete implements rest.GracefulDeleter. The first delete of a namespace marks it as terminating; later ones remove it
// as soon as its spec has no finalizers.
func (s *store) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, err := s.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	namespace := obj.(*corev1.Namespace)
	options, err = withPreconditions(options, namespace)
	if err != nil {
		return nil, false, err
	}
	switch {
	case namespace.DeletionTimestamp.IsZero():
		marked, err := s.terminate(ctx, name, validate, options)
		return marked, false, err
	case len(namespace.Spec.Finalizers) > 0:
		return namespace, false, nil
	}
	return s.main.Delete(ctx, name, validate, options)
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider.
func (s *store) GetCorruptObjDeleter() rest.GracefulDeleter {
	return resource.PlainDeleter{GracefulDeleter: s}
}

// withPreconditions returns options that hold for this very namespace only, or a conflict if they name another one.
func withPreconditions(options *metav1.DeleteOptions, namespace *corev1.Namespace) (*metav1.DeleteOptions, error) {
	if options == nil {
		options = metav1.NewDeleteOptions(0)
	}
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	conflict := func(what string, want, have any) error {
		return apierrors.NewConflict(corev1.Resource("namespaces"), namespace.Name,
			fmt.Errorf("Precondition failed: %s in precondition: %v, %s in object meta: %v", what, want, what, have)) //nolint:staticcheck // Worded as Kubernetes words it.
	}
	if uid := options.Preconditions.UID; uid == nil {
		options.Preconditions.UID = &namespace.UID
	} else if *uid != namespace.UID {
		return nil, conflict("UID", *uid, namespace.UID)
	}
	if version := options.Preconditions.ResourceVersion; version != nil && *version != namespace.ResourceVersion {
		return nil, conflict("ResourceVersion", *version, namespace.ResourceVersion)
	}
	return options, nil
}

// terminate sets the deletion timestamp and the phase of a namespace, and the finalizers that the propagation policy of
// options asks for.
func (s *store) terminate(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, error) {
	key, err := s.main.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	preconditions := storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	out := s.main.NewFunc()
	err = s.main.Storage.GuaranteedUpdate(ctx, key, out, false, &preconditions, storage.SimpleUpdate(func(existing runtime.Object) (runtime.Object, error) {
		namespace := existing.(*corev1.Namespace)
		if err := validate(ctx, namespace); err != nil {
			return nil, err
		}
		if namespace.DeletionTimestamp.IsZero() {
			now := metav1.NewTime(s.clock.Now())
			namespace.DeletionTimestamp = &now
		}
		namespace.Status.Phase = corev1.NamespaceTerminating
		namespace.Finalizers = propagationFinalizers(namespace.Finalizers, options)
		return namespace, nil
	}), dryrun.IsDryRun(options.DryRun), nil)
	if err == nil {
		return out, nil
	}
	err = storageerrors.InterpretGetError(err, corev1.Resource("namespaces"), name)
	err = storageerrors.InterpretUpdateError(err, corev1.Resource("namespaces"), name)
	if status := (*apierrors.StatusError)(nil); !errors.As(err, &status) {
		err = apierrors.NewInternalError(err)
	}
	return nil, err
}

// propagationFinalizers returns finalizers with those of garbage collection as options want them; options that say
// nothing leave them as they are.
func propagationFinalizers(finalizers []string, options *metav1.DeleteOptions) []string {
	orphan := slices.Contains(finalizers, metav1.FinalizerOrphanDependents)
	foreground := slices.Contains(finalizers, metav1.FinalizerDeleteDependents)
	//nolint:staticcheck // Clients of old still send the deprecated option.
	switch {
	case options.OrphanDependents != nil:
		orphan, foreground = *options.OrphanDependents, !*options.OrphanDependents
	case options.PropagationPolicy != nil:
		orphan = *options.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *options.PropagationPolicy == metav1.DeletePropagationForeground
	}
	finalizers = withFinalizer(finalizers, metav1.FinalizerOrphanDependents, orphan)
	return withFinalizer(finalizers, metav1.FinalizerDeleteDependents, foreground)
}

func withFinalizer(finalizers []string, name string, want bool) []string {
	has := slices.Contains(finalizers, name)
	switch {
	case want && !has:
		return append(slices.Clone(finalizers), name)
	case !want && has:
		return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == name })
	}
	return finalizers
}
