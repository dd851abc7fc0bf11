package gc

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
	"github.com/musterkube/muster/pkg/emulator/internal/work"
)

const (
	// userAgent names the collector in requests.
	userAgent = "garbage-collector"
	// workers is how many objects are dealt with at a time, as by default in kube-controller-manager.
	workers = 20
	// maxRetry bounds the delay before an object is dealt with again after an error.
	maxRetry = 30 * time.Second
	// remembered is how many owners that do not exist are remembered, to spare looking them up again.
	remembered = 2000
)

// Collector is the garbage collector of one server. It is an objects.Handler.
type Collector struct {
	metadata metadata.Interface
	events   kubernetes.Interface
	mapper   meta.RESTMapper
	queue    *work.Queue[types.UID]
	absent   *lru.Cache // of the UIDs of owners that do not exist
	warned   *lru.Cache // of pairs of UIDs about which an event was written

	ready     chan struct{} // closed once the graph is complete
	readyOnce sync.Once

	mu    sync.Mutex
	graph *graph
}

var _ objects.Handler = (*Collector)(nil)

// New returns a collector that acts through cfg. Mapper tells the resource of each kind that is served.
func New(cfg *rest.Config, mapper meta.RESTMapper) (*Collector, error) {
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), userAgent)
	client, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a metadata client: %w", err)
	}
	events, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	c := &Collector{
		metadata: client, events: events, mapper: mapper,
		absent: lru.New(remembered), warned: lru.New(remembered),
		ready: make(chan struct{}), graph: newGraph(),
	}
	c.queue = work.NewQueue(maxRetry, c.process)
	return c, nil
}

// Run collects until ctx ends, and returns when all its goroutines have ended. The collector has to be fed meanwhile.
func (c *Collector) Run(ctx context.Context) {
	select {
	case <-c.ready:
	case <-ctx.Done():
	}
	c.queue.Run(ctx, workers)
}

// Replace implements objects.Handler.
func (c *Collector) Replace(all []*objects.Object) {
	all = slices.DeleteFunc(slices.Clone(all), ignored)
	c.mu.Lock()
	removed, affected := c.graph.replace(all)
	c.mu.Unlock()
	for _, uid := range removed {
		c.absent.Add(uid, nil)
	}
	c.queue.Add(affected...)
	c.readyOnce.Do(func() { close(c.ready) })
}

// Update implements objects.Handler.
func (c *Collector) Update(object *objects.Object) {
	if ignored(object) {
		return
	}
	c.mu.Lock()
	affected := c.graph.put(object)
	c.mu.Unlock()
	c.queue.Add(affected...)
}

// Delete implements objects.Handler.
func (c *Collector) Delete(object *objects.Object) {
	if ignored(object) {
		return
	}
	// A UID never comes back, so nobody needs to look for it.
	c.absent.Add(object.UID, nil)
	c.mu.Lock()
	affected := c.graph.remove(object.UID)
	c.mu.Unlock()
	c.queue.Add(affected...)
}

// ignored reports whether an object takes no part: events come in masses, own nothing, and expire by themselves.
func ignored(object *objects.Object) bool {
	kind := object.Kind()
	return kind.Kind == "Event" && (kind.Group == "" || kind.Group == "events.k8s.io")
}

// decide says what is to become of an object as far as the graph and the memory of absent owners tell. Owners that
// they do not tell of are unknown, unless found has them.
func (c *Collector) decide(uid types.UID, found map[types.UID]standing) decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.graph.decide(uid, func(object *objects.Object, ref metav1.OwnerReference) standing {
		if s := c.graph.standing(object, ref); s != unknown {
			return s
		}
		if _, gone := c.absent.Get(ref.UID); gone {
			return absent
		}
		return found[ref.UID]
	})
}

// owner returns the object with a UID, wherever it is, or nil.
func (c *Collector) owner(uid types.UID) *objects.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.graph.objects[uid]
}
