package gc

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// component is the source of the events, as in kube-controller-manager.
const component = "garbage-collector-controller"

// warnOfNamespace writes an event, once, about a reference to an owner in another namespace, which does not count: the
// object that has it is about to be deleted for it.
func (c *Collector) warnOfNamespace(ctx context.Context, object *objects.Object, ref metav1.OwnerReference) {
	owner := c.owner(ref.UID)
	if owner == nil || owner.Namespace == "" || owner.Namespace == object.Namespace {
		return
	}
	pair := [2]types.UID{object.UID, ref.UID}
	if _, done := c.warned.Get(pair); done {
		return
	}
	c.warned.Add(pair, nil)
	namespace := object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := metav1.NewTime(clock.RealClock{}.Now())
	_, err := c.events.CoreV1().Events(namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: object.Name + ".", Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: object.APIVersion, Kind: object.Kind().Kind, Namespace: object.Namespace, Name: object.Name,
			UID: object.UID, ResourceVersion: version(object),
		},
		Type:   corev1.EventTypeWarning,
		Reason: "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			ref.APIVersion, ref.Kind, object.Namespace, ref.Name, ref.UID, object.Namespace),
		Source:         corev1.EventSource{Component: component},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not write an event", "object", klog.KRef(object.Namespace, object.Name), "reason", err)
	}
}
