package podgroupprotection

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// pageSize is how many pods one request of a headcount asks for.
const pageSize = 500

// covers reports whether what was seen at version seen includes all that had happened by version at. The versions of
// pods and of PodGroups come from one count in every API server that does not keep them in etcd clusters of their own;
// of one that does, the answer may be wrong, and a PodGroup is released on the word of the cache alone. A version that
// cannot be compared is not covered.
func covers(seen, at string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, at)
	return err == nil && order >= 0
}

// headcount asks the API server which PodGroups pods hold, where the cache cannot be trusted to know: it may not yet
// show a pod that was made just before its PodGroup was deleted. What it hears about a namespace answers for every
// PodGroup that was deleted before, so that many deletions at once do not take as many lists.
type headcount struct {
	kube kubernetes.Interface

	// mu is held while pods are listed: who comes in the meantime may find the answer there.
	mu        sync.Mutex
	namespace string
	version   string
	held      sets.Set[cache.ObjectName]
}

// isHeld reports whether a pod held group when, or after, group was deleted.
func (h *headcount) isHeld(ctx context.Context, group *schedulingv1alpha2.PodGroup) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.namespace != group.Namespace || !covers(h.version, group.ResourceVersion) {
		if err := h.take(ctx, group.Namespace); err != nil {
			return false, err
		}
	}
	return h.held.Has(cache.MetaObjectToName(group)), nil
}

// take lists the pods of a namespace, as they are now and not as the API server may have them cached.
func (h *headcount) take(ctx context.Context, namespace string) error {
	h.namespace, h.version, h.held = namespace, "", sets.New[cache.ObjectName]()
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := h.kube.CoreV1().Pods(namespace).List(ctx, options)
		if err != nil {
			return fmt.Errorf("listing the pods of namespace %s: %w", namespace, err)
		}
		for i := range page.Items {
			if group, holds := heldBy(&page.Items[i]); holds {
				h.held.Insert(group)
			}
		}
		if page.Continue == "" {
			h.version = page.ResourceVersion
			return nil
		}
		options.Continue = page.Continue
	}
}
