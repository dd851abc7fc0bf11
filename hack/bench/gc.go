package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// gcBenchmark deletes an owner of many objects, and a namespace with many objects, and takes the time until all is gone.
type gcBenchmark struct {
	dependents, objects int
}

func (b *gcBenchmark) flags(set *pflag.FlagSet) {
	set.IntVar(&b.dependents, "dependents", 1000, "how many objects the owner has")
	set.IntVar(&b.objects, "objects", 1000, "how many objects the namespace has")
}

func (b *gcBenchmark) check() error { return positive(b.dependents, b.objects) }

func (b *gcBenchmark) run(ctx context.Context, r *report) error {
	t := r.table("Deletion until all is gone", "what", "objects", "seconds", "CPU seconds", "CPU µs each", "peak MiB")
	for _, m := range []struct {
		what    string
		objects int
		measure func(context.Context, kubernetes.Interface) (cost, error)
	}{
		{"owner, background", b.dependents, b.owner(metav1.DeletePropagationBackground)},
		{"owner, foreground", b.dependents, b.owner(metav1.DeletePropagationForeground)},
		{"namespace", b.objects, b.namespace},
	} {
		c, err := onServer(ctx, m.measure)
		if err != nil {
			return fmt.Errorf("measuring deletion of %s: %w", m.what, err)
		}
		t.add(text(m.what), number(m.objects, 0), number(c.wall.Seconds(), 3), number(c.cpu.Seconds(), 3),
			number(per(c.cpu, m.objects, time.Microsecond), 0), number(c.peak, 0))
	}
	return nil
}

// onServer measures something on a server that it has to itself.
func onServer(ctx context.Context, measure func(context.Context, kubernetes.Interface) (cost, error)) (cost, error) {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		return cost{}, err
	}
	defer server.Stop()
	kube, err := client(rest.CopyConfig(server.Config()))
	if err != nil {
		return cost{}, err
	}
	return measure(ctx, kube)
}

// owner deletes a ConfigMap on which others depend.
func (b *gcBenchmark) owner(propagation metav1.DeletionPropagation) func(context.Context, kubernetes.Interface) (cost, error) {
	return func(ctx context.Context, kube kubernetes.Interface) (cost, error) {
		maps := kube.CoreV1().ConfigMaps(metav1.NamespaceDefault)
		owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
		if err != nil {
			return cost{}, fmt.Errorf("creating the owner: %w", err)
		}
		ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: new(true)}
		if err := fill(ctx, kube, metav1.NamespaceDefault, b.dependents, ref); err != nil {
			return cost{}, err
		}
		changes, err := maps.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return cost{}, fmt.Errorf("watching: %w", err)
		}
		defer changes.Stop()
		meter := startMeter()
		err = maps.Delete(ctx, owner.Name, metav1.DeleteOptions{PropagationPolicy: &propagation})
		if err == nil {
			err = awaitDeletions(ctx, changes, b.dependents+1)
		}
		return meter.stop(), err
	}
}

// namespace deletes a namespace that is full of ConfigMaps.
func (b *gcBenchmark) namespace(ctx context.Context, kube kubernetes.Interface) (cost, error) {
	const name = "full"
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return cost{}, fmt.Errorf("creating the namespace: %w", err)
	}
	if err := fill(ctx, kube, name, b.objects); err != nil {
		return cost{}, err
	}
	changes, err := kube.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return cost{}, fmt.Errorf("watching: %w", err)
	}
	defer changes.Stop()
	meter := startMeter()
	err = kube.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if err == nil {
		err = awaitDeletions(ctx, changes, 1)
	}
	return meter.stop(), err
}

// fill creates n ConfigMaps.
func fill(ctx context.Context, kube kubernetes.Interface, namespace string, n int, owners ...metav1.OwnerReference) error {
	_, err := each(ctx, n, clients, func(ctx context.Context, i int) error {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: objectName(i), OwnerReferences: owners}}
		_, err := kube.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating objects: %w", err)
	}
	return nil
}

// awaitDeletions waits until so many objects are gone.
func awaitDeletions(ctx context.Context, changes watch.Interface, n int) error {
	for n > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d objects are still there: %w", n, context.Cause(ctx))
		case event, open := <-changes.ResultChan():
			if !open {
				return fmt.Errorf("the watch has ended while %d objects were still there", n)
			}
			if event.Type == watch.Deleted {
				n--
			}
		}
	}
	return nil
}
