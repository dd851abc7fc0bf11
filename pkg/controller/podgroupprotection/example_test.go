package podgroupprotection_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/controller/podgroupprotection"
	"github.com/musterkube/muster/pkg/emulator"
)

// A PodGroup that no pod uses goes as soon as it is deleted.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	controller, err := podgroupprotection.New(server.Config(), podgroupprotection.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()

	if err := deleteGroup(ctx, versioned.NewForConfigOrDie(server.Config())); err != nil {
		fmt.Println(err)
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// made with [scheduling.k8s.io/podgroup-protection]
	// gone
	// <nil>
}

// deleteGroup makes a PodGroup, deletes it and waits until it is gone.
func deleteGroup(ctx context.Context, client versioned.Interface) error {
	groups := client.SchedulingV1alpha2().PodGroups("default")
	group, err := groups.Create(ctx, &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "workers"},
		Spec:       schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: builder.Gang("workers", 4).SchedulingPolicy},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("made with", group.Finalizers)

	events, err := groups.Watch(ctx, metav1.ListOptions{ResourceVersion: group.ResourceVersion})
	if err != nil {
		return err
	}
	defer events.Stop()
	if err := groups.Delete(ctx, group.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted {
			fmt.Println("gone")
			return nil
		}
	}
	return fmt.Errorf("waiting for podgroup %s to go: the watch has ended", group.Name)
}
