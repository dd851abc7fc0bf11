package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/musterkube/muster/pkg/emulator"
)

// fanOut creates pods while many clients watch, and takes the time from each request to each event.
func (b *apiBenchmark) fanOut(ctx context.Context, r *report) error {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		return err
	}
	defer server.Stop()
	kube, err := client(server.Config())
	if err != nil {
		return err
	}
	pods := kube.CoreV1().Pods(metav1.NamespaceDefault)
	sent := make([]time.Duration, b.objects)
	// A watcher has a part of latencies to itself.
	latencies := make([]time.Duration, b.watchers*b.objects)
	began, cpu := time.Now(), cpuTime()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	for i := range b.watchers {
		changes, err := pods.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			cancel(err)
			break
		}
		watching.Go(func() {
			defer changes.Stop()
			if err := receive(changes, began, latencies[i*b.objects:][:b.objects]); err != nil {
				cancel(err)
			}
		})
	}
	_, err = each(ctx, b.objects, clients, func(ctx context.Context, i int) error {
		sent[i] = time.Since(began)
		_, err := pods.Create(ctx, newPod(objectName(i)), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		cancel(err)
	}
	watching.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range latencies {
		latencies[i] -= sent[i%b.objects]
	}
	s := sample{n: len(latencies), wall: time.Since(began), cpu: cpuTime() - cpu, latencies: latencies}
	slices.Sort(s.latencies)
	r.table("Watches", requestColumns("what", "watchers")...).addSample(s, "from create to event", strconv.Itoa(b.watchers))
	return nil
}

// receive notes when the event of each pod comes, and returns when it has seen all of them.
func receive(changes watch.Interface, began time.Time, came []time.Duration) error {
	for missing := len(came); missing > 0; {
		event, open := <-changes.ResultChan()
		if !open {
			return fmt.Errorf("a watch has ended while %d events were missing", missing)
		}
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || event.Type != watch.Added {
			continue
		}
		i, err := strconv.Atoi(strings.TrimPrefix(pod.Name, objectPrefix))
		if err != nil {
			return fmt.Errorf("watching: unexpected pod %s", pod.Name)
		}
		came[i] = time.Since(began)
		missing--
	}
	return nil
}
