package main

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	applyv1alpha2 "github.com/musterkube/muster/generated/applyconfiguration/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/generated/informers/externalversions"
)

// fieldManager is who owns the fields that are applied. name is what is applied.
const (
	fieldManager = "typed-client"
	name         = "typed-client-tour"
)

// owner is how a field manager takes what it applies, also from another.
func owner() metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: fieldManager, Force: true} }

// tour shows an informer, a lister and apply configurations at work.
func tour(ctx context.Context, client versioned.Interface, namespace string, out io.Writer) error {
	// An informer lists what there is, watches what comes, and keeps it for the lister. The handler runs in a goroutine of
	// the informer's, so it passes on what it sees, and does not wait.
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(namespace))
	groups := factory.Scheduling().V1alpha2().PodGroups()
	seen := make(chan string, 100)
	tell := func(what string, object any) {
		if group, ok := object.(*schedulingv1alpha2.PodGroup); ok && group.Name == name {
			select {
			case seen <- fmt.Sprintf("%s %s/%s labels=%q", what, group.Namespace, group.Name, labels.FormatLabels(group.Labels)):
			default:
			}
		}
	}
	_, err := groups.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("added", object) },
		UpdateFunc: func(_, object any) { tell("updated", object) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok { // the deletion itself was missed
				object = last.Obj
			}
			tell("deleted", object)
		},
	})
	if err != nil {
		return fmt.Errorf("adding a handler: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	defer factory.Shutdown() // waits for the informer's goroutines
	defer cancel()
	if result := factory.WaitForCacheSyncWithContext(ctx); result.Err != nil {
		return fmt.Errorf("waiting for the cache of PodGroups: %w", result.Err)
	}
	known, err := groups.Lister().PodGroups(namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "there are %d PodGroups in %s\n", len(known), namespace)

	defer func() { _ = remove(context.WithoutCancel(ctx), client, namespace) }() // if the tour ends before its end
	if err := apply(ctx, client, namespace, nil, out); err != nil {
		return err
	}
	if err := await(ctx, seen, out); err != nil {
		return err
	}
	// The same again is no write. With one field more, that field changes, and those of others stay as they are.
	if err := apply(ctx, client, namespace, nil, out); err != nil {
		return err
	}
	if err := apply(ctx, client, namespace, map[string]string{"team": "research"}, out); err != nil {
		return err
	}
	if err := await(ctx, seen, out); err != nil {
		return err
	}
	group, err := groups.Lister().PodGroups(namespace).Get(name) // from the cache; not to be changed
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the lister has %s, a gang of %d\n", group.Name, group.Spec.SchedulingPolicy.Gang.MinCount)
	if err := remove(ctx, client, namespace); err != nil {
		return err
	}
	return await(ctx, seen, out)
}

// apply says what the two objects are to be. A field that an earlier call has set and this one does not is taken away.
func apply(ctx context.Context, client versioned.Interface, namespace string, groupLabels map[string]string, out io.Writer) error {
	gang := func() *applyv1alpha2.PodGroupSchedulingPolicyApplyConfiguration {
		return applyv1alpha2.PodGroupSchedulingPolicy().WithGang(applyv1alpha2.GangSchedulingPolicy().WithMinCount(4))
	}
	workload := applyv1alpha2.Workload(name, namespace).WithSpec(applyv1alpha2.WorkloadSpec().
		WithPodGroupTemplates(applyv1alpha2.PodGroupTemplate().WithName("workers").WithSchedulingPolicy(gang())))
	if _, err := client.SchedulingV1alpha2().Workloads(namespace).Apply(ctx, workload, owner()); err != nil {
		return fmt.Errorf("applying Workload %s/%s: %w", namespace, name, err)
	}
	template := applyv1alpha2.PodGroupTemplateReference().WithWorkload(
		applyv1alpha2.WorkloadPodGroupTemplateReference().WithWorkloadName(name).WithPodGroupTemplateName("workers"))
	group := applyv1alpha2.PodGroup(name, namespace).WithLabels(groupLabels).
		WithSpec(applyv1alpha2.PodGroupSpec().WithPodGroupTemplateRef(template).WithSchedulingPolicy(gang()))
	applied, err := client.SchedulingV1alpha2().PodGroups(namespace).Apply(ctx, group, owner())
	if err != nil {
		return fmt.Errorf("applying PodGroup %s/%s: %w", namespace, name, err)
	}
	fmt.Fprintf(out, "applied %s/%s, resource version %s\n", namespace, name, applied.ResourceVersion)
	return nil
}

// await prints what the informer sees next.
func await(ctx context.Context, seen <-chan string, out io.Writer) error {
	select {
	case line := <-seen:
		fmt.Fprintf(out, "the informer has seen: %s\n", line)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the informer: %w", context.Cause(ctx))
	}
}

// remove deletes both. What protects a PodGroup from deletion, a finalizer, goes when no pod is in it.
func remove(ctx context.Context, client versioned.Interface, namespace string) error {
	if err := client.SchedulingV1alpha2().PodGroups(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting PodGroup %s/%s: %w", namespace, name, err)
	}
	if err := client.SchedulingV1alpha2().Workloads(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting Workload %s/%s: %w", namespace, name, err)
	}
	return nil
}
