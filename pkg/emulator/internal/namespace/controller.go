package namespace

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
	"github.com/musterkube/muster/pkg/emulator/internal/work"
)

const (
	// userAgent names the controller in requests.
	userAgent = "namespace-controller"
	// workers is how many namespaces are emptied at a time.
	workers = 5
	// maxRetry bounds the delay before a namespace is dealt with again after an error.
	maxRetry = time.Minute
)

// Controller is the namespace controller of one server. It is an objects.Handler.
type Controller struct {
	client    kubernetes.Interface
	metadata  metadata.Interface
	resources func(context.Context) ([]schema.GroupVersionResource, error)
	queue     *work.Queue[string]

	mu sync.Mutex
	// terminating are the names of the namespaces that are being deleted.
	terminating map[string]bool
	// content counts the objects in each namespace, by kind.
	content map[string]map[schema.GroupKind]int
	// known are the UIDs of the objects that content counts.
	known map[types.UID]bool
}

var _ objects.Handler = (*Controller)(nil)

// New returns a controller that acts through cfg. Resources tells the namespaced resources that can be deleted; it is asked
// each time that a namespace is emptied.
func New(cfg *rest.Config, resources func(context.Context) ([]schema.GroupVersionResource, error)) (*Controller, error) {
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), userAgent)
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a metadata client: %w", err)
	}
	c := &Controller{client: client, metadata: metadataClient, resources: resources}
	c.queue = work.NewQueue(maxRetry, c.process)
	c.forget()
	return c, nil
}

// Run empties namespaces until ctx ends, and returns when all its goroutines have ended. The controller has to be fed
// meanwhile.
func (c *Controller) Run(ctx context.Context) { c.queue.Run(ctx, workers) }

// Replace implements objects.Handler.
func (c *Controller) Replace(all []*objects.Object) {
	c.forget()
	for _, object := range all {
		c.Update(object)
	}
}

// forget makes the controller one that has not seen anything.
func (c *Controller) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.terminating = map[string]bool{}
	c.content = map[string]map[schema.GroupKind]int{}
	c.known = map[types.UID]bool{}
}

// Update implements objects.Handler.
func (c *Controller) Update(object *objects.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isNamespace(object) {
		if object.DeletionTimestamp != nil {
			c.terminating[object.Name] = true
			c.queue.Add(object.Name)
		}
		return
	}
	if object.Namespace == "" || c.known[object.UID] {
		return
	}
	c.known[object.UID] = true
	if c.content[object.Namespace] == nil {
		c.content[object.Namespace] = map[schema.GroupKind]int{}
	}
	c.content[object.Namespace][object.Kind().GroupKind()]++
}

// Delete implements objects.Handler.
func (c *Controller) Delete(object *objects.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isNamespace(object) {
		delete(c.terminating, object.Name)
		return
	}
	if !c.known[object.UID] {
		return
	}
	delete(c.known, object.UID)
	kinds, kind := c.content[object.Namespace], object.Kind().GroupKind()
	kinds[kind]--
	if kinds[kind] > 0 {
		return
	}
	delete(kinds, kind)
	if len(kinds) == 0 {
		delete(c.content, object.Namespace)
	}
	if c.terminating[object.Namespace] {
		c.queue.Add(object.Namespace)
	}
}

func isNamespace(object *objects.Object) bool {
	return object.Kind().GroupKind() == schema.GroupKind{Kind: "Namespace"}
}
