package muster_test

import (
	"context"
	"fmt"
	"log"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	applyv1alpha2 "github.com/musterkube/muster/generated/applyconfiguration/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/generated/informers/externalversions"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/emulator"
)

// start returns what connects to a server in this process; that of any cluster that serves the API will do as well.
func start(ctx context.Context) (config *rest.Config, stop func()) {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return server.Config(), server.Stop
}

// The typed client beside that of Kubernetes: a Job's Workload is built and created, and the PodGroup that is made from it.
func Example_clientset() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, stop := start(ctx)
	defer stop()
	kube, client := kubernetes.NewForConfigOrDie(config), versioned.NewForConfigOrDie(config)

	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "training"},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(4)), Completions: new(int32(4)), CompletionMode: new(batchv1.IndexedCompletion),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "worker", Image: "example.com/train"}},
			}},
		},
	}
	job, err := kube.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	// What is built names the Job as its owner, so the Job has to be there: garbage collection deletes what has lost its owner.
	workload, err := builder.FromJob(job, builder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	workload, err = client.SchedulingV1alpha2().Workloads("default").Create(ctx, workload, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	groups, err := builder.PodGroups(workload, builder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, group := range groups {
		made, err := client.SchedulingV1alpha2().PodGroups("default").Create(ctx, group, metav1.CreateOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("a gang of", made.Spec.SchedulingPolicy.Gang.MinCount)
	}
	// Output:
	// a gang of 4
}

// A shared informer, and the lister over its cache.
func Example_informer() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, stop := start(ctx)
	defer stop()
	client := versioned.NewForConfigOrDie(config)

	factory := externalversions.NewSharedInformerFactory(client, 0)
	groups := factory.Scheduling().V1alpha2().PodGroups()
	seen := make(chan string)
	_, err := groups.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		seen <- obj.(*schedulingv1alpha2.PodGroup).Name
	}})
	if err != nil {
		log.Fatal(err)
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown() // after cancel, which the next line defers: it waits for the informers to end
	defer cancel()

	group := &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "workers"},
		Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2},
		}},
	}
	if _, err := client.SchedulingV1alpha2().PodGroups("default").Create(ctx, group, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("seen:", <-seen)
	listed, err := groups.Lister().PodGroups("default").List(labels.Everything())
	fmt.Println("listed:", len(listed), err)
	// Output:
	// seen: workers
	// listed: 1 <nil>
}

// Server-side apply: a controller owns the fields that it names, and a second one cannot take them by accident.
func Example_apply() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, stop := start(ctx)
	defer stop()
	groups := versioned.NewForConfigOrDie(config).SchedulingV1alpha2().PodGroups("default")

	group := applyv1alpha2.PodGroup("workers", "default").
		WithLabels(map[string]string{"example.com/run": "7"}).
		WithSpec(applyv1alpha2.PodGroupSpec().WithSchedulingPolicy(
			applyv1alpha2.PodGroupSchedulingPolicy().WithGang(applyv1alpha2.GangSchedulingPolicy().WithMinCount(4))))
	if _, err := groups.Apply(ctx, group, metav1.ApplyOptions{FieldManager: "trainer"}); err != nil {
		log.Fatal(err)
	}

	scheduled := applymetav1.Condition().WithType(schedulingv1alpha2.PodGroupScheduled).WithStatus(metav1.ConditionTrue).
		WithReason("Scheduled").WithMessage("").WithLastTransitionTime(metav1.Now())
	status := applyv1alpha2.PodGroup("workers", "default").WithStatus(applyv1alpha2.PodGroupStatus().WithConditions(scheduled))
	applied, err := groups.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "scheduler"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scheduled:", meta.IsStatusConditionTrue(applied.Status.Conditions, schedulingv1alpha2.PodGroupScheduled))

	other := applyv1alpha2.PodGroup("workers", "default").WithLabels(map[string]string{"example.com/run": "8"})
	_, err = groups.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "somebody"})
	fmt.Println(err)
	// Output:
	// scheduled: true
	// Apply failed with 1 conflict: conflict with "trainer": .metadata.labels.example.com/run
}
