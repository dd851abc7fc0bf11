package kubelet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// watch starts the informers and returns once the kubelet knows everything that was there. The function that it returns
// ends them and waits until they have; it is never nil.
func (k *Kubelet) watch(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(k.kube, 0, informers.WithTransform(slim))
	nodes, pods, jobs := factory.Core().V1().Nodes(), factory.Core().V1().Pods(), factory.Batch().V1().Jobs()
	k.mu.Lock()
	k.nodes, k.pods = nodes.Lister(), pods.Lister()
	k.mu.Unlock()
	synced := []cache.DoneChecker{
		nodes.Informer().HasSyncedChecker(), pods.Informer().HasSyncedChecker(), jobs.Informer().HasSyncedChecker(),
	}
	factory.StartWithContext(ctx)
	stop = func() {
		cancel()
		factory.Shutdown()
	}
	if !cache.WaitFor(ctx, "", synced...) {
		return stop, errors.New("informers did not sync")
	}
	return stop, errors.Join(k.recall(), k.listen(nodes.Informer(), pods.Informer(), jobs.Informer()))
}

// recall notes the pods that are there already, in the order in which they were made; the handlers then see the others
// as they are made.
func (k *Kubelet) recall() error {
	existing, err := k.pods.List(labels.Everything())
	slices.SortFunc(existing, func(a, b *corev1.Pod) int {
		return cmp.Or(
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, pod := range existing {
		k.history.see(pod)
	}
	return err
}

// listen has whatever changes looked at.
func (k *Kubelet) listen(nodes, pods, jobs cache.SharedIndexInformer) error {
	_, errNodes := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.nodeChanged,
		UpdateFunc: k.nodeUpdated,
	})
	_, errPods := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				k.history.see(pod)
			}
			k.enqueue(object)
		},
		UpdateFunc: func(_, object any) { k.enqueue(object) },
		DeleteFunc: k.enqueue,
	})
	_, errJobs := jobs.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: k.jobDeleted})
	return errors.Join(errNodes, errPods, errJobs)
}

// slim drops from an object what the kubelet never looks at and what takes much room.
func slim(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func (k *Kubelet) enqueue(object any) {
	if tombstone, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = tombstone.Obj
	}
	if accessor, ok := object.(metav1.Object); ok {
		k.queue.Add(task{Namespace: accessor.GetNamespace(), Name: accessor.GetName()})
	}
}

// nodeChanged looks after a new node, and the pods that were bound to it before it was known.
func (k *Kubelet) nodeChanged(object any) {
	k.enqueue(object)
	node, ok := object.(*corev1.Node)
	if !ok {
		return
	}
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return // the lister of an informer has no errors
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == node.Name {
			k.enqueue(pod)
		}
	}
}

func (k *Kubelet) jobDeleted(object any) {
	if tombstone, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = tombstone.Obj
	}
	if job, ok := object.(*batchv1.Job); ok {
		k.history.forget(job.UID)
	}
}
