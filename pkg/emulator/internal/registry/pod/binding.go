package pod

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// binding serves pods/binding: a scheduler posts a Binding to say on which node a pod is to run.
type binding struct {
	pods  *resource.REST
	clock clock.PassiveClock
}

var (
	_ rest.Storage                        = (*binding)(nil)
	_ rest.NamedCreater                   = (*binding)(nil)
	_ rest.SubresourceObjectMetaPreserver = (*binding)(nil)
)

// New implements rest.Storage.
func (b *binding) New() runtime.Object { return &corev1.Binding{} }

// Destroy implements rest.Storage.
func (b *binding) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (b *binding) NamespaceScoped() bool { return true }

// PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate implements rest.SubresourceObjectMetaPreserver: UID and
// resource version of a Binding are preconditions.
func (b *binding) PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() bool { return true }

// Create implements rest.NamedCreater.
func (b *binding) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding object: %#v", obj))
	}
	if name != request.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	// Not made an Invalid error, so that a bad Binding is answered with status 500: as Kubernetes does.
	if errs := validateBinding(request); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	if validate != nil {
		if err := validate(ctx, request.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if err := b.assign(ctx, request, dryrun.IsDryRun(options.DryRun)); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

func validateBinding(request *corev1.Binding) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("target")
	if kind := request.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if request.Target.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	return errs
}

// assign writes the node of the binding into its pod.
func (b *binding) assign(ctx context.Context, request *corev1.Binding, dryRun bool) error {
	key, err := b.pods.KeyFunc(ctx, request.Name)
	if err != nil {
		return err
	}
	preconditions := &storage.Preconditions{}
	if request.UID != "" {
		preconditions.UID = &request.UID
	}
	if request.ResourceVersion != "" {
		preconditions.ResourceVersion = &request.ResourceVersion
	}
	err = b.pods.Storage.GuaranteedUpdate(ctx, key, &corev1.Pod{}, false, preconditions, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		pod := obj.(*corev1.Pod)
		return pod, bind(pod, request, b.clock)
	}), dryRun, nil)
	if err == nil {
		return nil
	}
	err = storageerrors.InterpretGetError(err, corev1.Resource("pods"), request.Name)
	err = storageerrors.InterpretUpdateError(err, corev1.Resource("pods"), request.Name)
	if status := (*apierrors.StatusError)(nil); !errors.As(err, &status) {
		err = apierrors.NewConflict(corev1.Resource("pods/binding"), request.Name, err)
	}
	return err
}

// bind puts pod on the node that request names, with the annotations and labels of request over its own. It refuses
// pods that are on a node already, being deleted, or not to be scheduled yet.
func bind(pod *corev1.Pod, request *corev1.Binding, now clock.PassiveClock) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", pod.Name)
	}
	pod.Spec.NodeName = request.Target.Name
	pod.Status.NominatedNodeName = ""
	pod.Annotations = merged(pod.Annotations, request.Annotations)
	pod.Labels = merged(pod.Labels, request.Labels)
	core.SetPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, now.Now())
	return nil
}

func merged(onto, from map[string]string) map[string]string {
	if onto == nil && len(from) > 0 {
		onto = make(map[string]string, len(from))
	}
	maps.Copy(onto, from)
	return onto
}
