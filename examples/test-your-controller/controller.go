package experiment

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/batch"
)

const (
	// Label is on every ConfigMap that is an experiment, and on its Job.
	Label = "example.com/experiment"
	// Result is the annotation of an experiment that is over: "Complete" or "Failed", as its Job was.
	Result = "example.com/result"

	userAgent = "experiments"
)

// Controller has a Job run for each ConfigMap that describes an experiment, and notes how it ended.
type Controller struct {
	kube    kubernetes.Interface
	factory informers.SharedInformerFactory
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// New returns a controller for the API server of cfg. It does nothing until it is run.
func New(cfg *rest.Config) (*Controller, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = userAgent
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	labelled := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = Label })
	return &Controller{
		kube:    kube,
		factory: informers.NewSharedInformerFactoryWithOptions(kube, 0, labelled),
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}, nil
}

// Run works until ctx ends, and returns when everything that it has started has ended. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	// A ConfigMap and its Job have one name, so that a change of either is a reason to look at that.
	enqueue := func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			c.queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }, DeleteFunc: enqueue}
	for _, informer := range []cache.SharedIndexInformer{
		c.factory.Core().V1().ConfigMaps().Informer(), c.factory.Batch().V1().Jobs().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("adding a handler: %w", err)
		}
	}
	c.factory.StartWithContext(ctx)
	defer c.factory.Shutdown()
	c.factory.WaitForCacheSyncWithContext(ctx)

	var worker sync.WaitGroup
	worker.Go(func() {
		for c.next(ctx) {
		}
	})
	<-ctx.Done()
	c.queue.ShutDown()
	worker.Wait()
	return ctx.Err()
}

// next looks at one experiment, and again later if that fails.
func (c *Controller) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	if err := c.reconcile(ctx, name); err != nil {
		if ctx.Err() == nil {
			klog.FromContext(ctx).Info("Trying again", "experiment", name, "reason", err.Error())
		}
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	return true
}

func (c *Controller) reconcile(ctx context.Context, name cache.ObjectName) error {
	settings, err := c.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) || err == nil && over(settings) {
		return nil // garbage collection takes the Job of one that is deleted
	} else if err != nil {
		return err
	}
	job, err := c.factory.Batch().V1().Jobs().Lister().Jobs(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return c.start(ctx, name)
	} else if err != nil {
		return err
	}
	outcome, finished := batch.Finished(job)
	if !finished || !metav1.IsControlledBy(job, settings) {
		return nil
	}
	// With the UID this is about the one ConfigMap; without, one that is gone would be made again.
	note := applycorev1.ConfigMap(name.Name, name.Namespace).WithUID(settings.UID).WithAnnotations(map[string]string{Result: string(outcome)})
	if _, err := c.kube.CoreV1().ConfigMaps(name.Namespace).Apply(ctx, note, metav1.ApplyOptions{FieldManager: userAgent, Force: true}); err != nil {
		return fmt.Errorf("noting the result of %s: %w", name, err)
	}
	return nil
}

// start makes the Job. The caches may be behind: a result that they do not show yet, with a Job that is deleted already,
// would have the experiment run again. So the server is asked.
func (c *Controller) start(ctx context.Context, name cache.ObjectName) error {
	settings, err := c.kube.CoreV1().ConfigMaps(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (over(settings) || settings.DeletionTimestamp != nil) {
		return nil
	} else if err != nil {
		return fmt.Errorf("getting %s: %w", name, err)
	}
	_, err = c.kube.BatchV1().Jobs(name.Namespace).Create(ctx, newJob(settings), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the job of %s: %w", name, err)
	}
	return nil
}

func over(settings *corev1.ConfigMap) bool { return settings.Annotations[Result] != "" }

// newJob makes the Job of an experiment: as many indexes as data.workers says (or one), all at once, running data.image.
func newJob(settings *corev1.ConfigMap) *batchv1.Job {
	workers, err := strconv.ParseInt(settings.Data["workers"], 10, 32)
	if err != nil || workers < 1 {
		workers = 1
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: settings.Name, Namespace: settings.Namespace, Labels: map[string]string{Label: settings.Labels[Label]},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(settings, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Parallelism: new(int32(workers)), Completions: new(int32(workers)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: settings.Data["image"]}},
			}},
		},
	}
}
