package pod

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// eviction serves pods/eviction: if its disruption budget allows, a pod is marked as disrupted and then deleted.
type eviction struct {
	pods    *resource.REST
	status  *resource.Subresource
	clock   clock.PassiveClock
	budgets budgets
}

var (
	_ rest.Storage                  = (*eviction)(nil)
	_ rest.NamedCreater             = (*eviction)(nil)
	_ rest.GroupVersionKindProvider = (*eviction)(nil)
)

// New implements rest.Storage.
func (e *eviction) New() runtime.Object { return &policyv1.Eviction{} }

// Destroy implements rest.Storage.
func (e *eviction) Destroy() {}

// GroupVersionKind implements rest.GroupVersionKindProvider: the subresource of a core/v1 kind takes an object of another
// group.
func (e *eviction) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return policyv1.SchemeGroupVersion.WithKind("Eviction")
}

// AcceptsGroupVersion implements rest.GroupVersionAcceptor.
func (e *eviction) AcceptsGroupVersion(gv schema.GroupVersion) bool {
	return gv == policyv1.SchemeGroupVersion || gv == policyv1beta1.SchemeGroupVersion
}

// Create implements rest.NamedCreater.
func (e *eviction) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(*policyv1.Eviction)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Eviction object: %T", obj))
	}
	if name != request.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if asked := request.DeleteOptions; asked != nil && ptr.Deref(asked.IgnoreStoreReadErrorWithClusterBreakingPotential, false) {
		path := field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
		return nil, apierrors.NewInvalid(policyv1.SchemeGroupVersion.WithKind("Eviction").GroupKind(), name, field.ErrorList{
			field.Invalid(path, true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	deletion, err := deleteOptions(request, options)
	if err != nil {
		return nil, err
	}
	if validate != nil {
		if err := validate(ctx, request.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	stored, err := e.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod := stored.(*corev1.Pod)
	verdict, err := e.budgets.spend(ctx, pod, dryrun.IsDryRun(deletion.DryRun))
	if err != nil {
		return nil, err
	}
	if verdict.failure != nil {
		return verdict.failure, nil
	}
	given := deletion.Preconditions != nil && deletion.Preconditions.ResourceVersion != nil
	if verdict.asRead && !given {
		if deletion.Preconditions == nil {
			deletion.Preconditions = &metav1.Preconditions{}
		}
		deletion.Preconditions.ResourceVersion = &pod.ResourceVersion
	}
	if err := e.evict(ctx, name, deletion); err != nil {
		if apierrors.IsConflict(err) && verdict.asRead && !given {
			err = tryLater(verdict.budget)
		}
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

// evict marks and deletes a pod.
func (e *eviction) evict(ctx context.Context, name string, deletion *metav1.DeleteOptions) error {
	if !dryrun.IsDryRun(deletion.DryRun) {
		if err := e.markDisrupted(ctx, name, deletion); err != nil {
			return err
		}
	}
	_, _, err := e.pods.Delete(ctx, name, rest.ValidateAllObjectFunc, deletion)
	return err
}

// deleteOptions returns the options for the delete: those of the eviction, and dry-run from either side.
func deleteOptions(request *policyv1.Eviction, options *metav1.CreateOptions) (*metav1.DeleteOptions, error) {
	if request.DeleteOptions == nil {
		return &metav1.DeleteOptions{DryRun: options.DryRun}, nil
	}
	deletion := request.DeleteOptions.DeepCopy()
	switch {
	case len(deletion.DryRun) == 0:
		deletion.DryRun = options.DryRun
	case len(options.DryRun) > 0 && !reflect.DeepEqual(options.DryRun, deletion.DryRun):
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", options.DryRun, deletion.DryRun) //nolint:staticcheck // Worded as Kubernetes words it.
	}
	return deletion, nil
}

// markDisrupted sets the condition by which controllers tell evicted pods from failed ones. If deletion is for one
// resource version of the pod, it is for the marked one afterwards.
func (e *eviction) markDisrupted(ctx context.Context, name string, deletion *metav1.DeleteOptions) error {
	mark := func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
		pod := stored.(*corev1.Pod).DeepCopy()
		if err := checkPreconditions(deletion.Preconditions, pod); err != nil {
			return nil, err
		}
		core.SetPodCondition(pod, corev1.PodCondition{
			Type:    corev1.DisruptionTarget,
			Status:  corev1.ConditionTrue,
			Reason:  "EvictionByEvictionAPI",
			Message: "Eviction API: evicting",
		}, e.clock.Now())
		return pod, nil
	}
	updated, _, err := e.status.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, mark),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if deletion.Preconditions != nil && deletion.Preconditions.ResourceVersion != nil {
		deletion.Preconditions.ResourceVersion = &updated.(*corev1.Pod).ResourceVersion
	}
	return nil
}

func checkPreconditions(want *metav1.Preconditions, pod *corev1.Pod) error {
	if want == nil {
		return nil
	}
	conflict := func(format string, args ...any) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "Pod"}, pod.Name, fmt.Errorf(format, args...))
	}
	if uid := want.UID; uid != nil && *uid != "" && *uid != pod.UID {
		return conflict("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *uid, pod.UID)
	}
	if version := want.ResourceVersion; version != nil && *version != "" && *version != pod.ResourceVersion {
		return conflict("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *version, pod.ResourceVersion)
	}
	return nil
}
