package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// process brings the deletion of one namespace forward as far as it goes now.
func (c *Controller) process(ctx context.Context, name string) error {
	namespace, err := c.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting namespace %s: %w", name, err)
	}
	if namespace.DeletionTimestamp == nil || !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
		return nil
	}
	left, deleteErr := c.deleteContent(ctx, name)
	if err := c.report(ctx, namespace, left, deleteErr); err != nil {
		return err
	}
	if deleteErr != nil || left.any() {
		return deleteErr
	}
	return c.finalize(ctx, namespace)
}

// deleteContent deletes what there is in a namespace, and returns what was left. Pods go first: they may need what
// else is there, such as their secrets, until they have ended.
func (c *Controller) deleteContent(ctx context.Context, name string) (remains, error) {
	left := remains{}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	if err := c.deleteResource(ctx, pods, name, &left); err != nil || left.any() {
		return left, err
	}
	resources, err := c.resources(ctx)
	if err != nil {
		return left, err
	}
	var faults []error
	for _, resource := range resources {
		if resource != pods {
			faults = append(faults, c.deleteResource(ctx, resource, name, &left))
		}
	}
	return left, errors.Join(faults...)
}

// deleteResource deletes all objects of a resource in a namespace, and adds those that are left to left.
func (c *Controller) deleteResource(ctx context.Context, resource schema.GroupVersionResource, name string, left *remains) error {
	client := c.metadata.Resource(resource).Namespace(name)
	policy := metav1.DeletePropagationBackground
	if err := client.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &policy}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("deleting %s of namespace %s: %w", resource.GroupResource(), name, err)
	}
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing %s of namespace %s: %w", resource.GroupResource(), name, err)
	}
	for i := range list.Items {
		left.add(resource, list.Items[i].Finalizers)
	}
	return nil
}

// report writes into the namespace's conditions how far its deletion has come.
func (c *Controller) report(ctx context.Context, namespace *corev1.Namespace, left remains, deleteErr error) error {
	old := namespace.DeepCopy()
	now := metav1.NewTime(clock.RealClock{}.Now())
	for _, condition := range conditions(left, deleteErr) {
		setCondition(&namespace.Status.Conditions, condition, now)
	}
	if equality.Semantic.DeepEqual(old.Status, namespace.Status) {
		return nil
	}
	updated, err := c.client.CoreV1().Namespaces().UpdateStatus(ctx, namespace, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("updating the status of namespace %s: %w", namespace.Name, err)
	}
	*namespace = *updated
	return nil
}

// finalize lets the namespace go.
func (c *Controller) finalize(ctx context.Context, namespace *corev1.Namespace) error {
	namespace.Spec.Finalizers = slices.DeleteFunc(namespace.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	_, err := c.client.CoreV1().Namespaces().Finalize(ctx, namespace, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("finalizing namespace %s: %w", namespace.Name, err)
	}
	return nil
}
