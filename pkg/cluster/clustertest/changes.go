package clustertest

import (
	"context"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// changes tells that objects have changed, of whatever kind.
type changes struct {
	// seen has something in it after a change.
	seen chan struct{}
	// ended is done when nothing of it runs any more.
	ended sync.WaitGroup
}

// watch looks for changes of every kind that the server has, until ctx ends.
func (c *Cluster) watch(ctx context.Context) *changes {
	c.t.Helper()
	client := c.look.Discovery()
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		c.t.Fatalf("asking for the kinds of objects that there are: %v", err)
	}
	w := &changes{seen: make(chan struct{}, 1)}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"watch"}}, lists) {
		for _, resource := range list.APIResources {
			path := resourcePath(list.GroupVersion, resource)
			w.ended.Go(func() {
				for ctx.Err() == nil {
					w.follow(ctx, client, path)
				}
			})
		}
	}
	return w
}

// resourcePath is where all objects of a kind are served. The core API has another root than the others.
func resourcePath(groupVersion string, resource metav1.APIResource) string {
	root := "/apis/"
	if groupVersion == "v1" {
		root = "/api/"
	}
	return root + groupVersion + "/" + resource.Name
}

// follow watches one kind until the server ends the watch, which it does every hour or so.
func (w *changes) follow(ctx context.Context, client discovery.DiscoveryInterface, path string) {
	stream, err := client.RESTClient().Get().AbsPath(path).Param("watch", "true").Stream(ctx)
	if err != nil {
		pause(ctx, time.Second)
		return
	}
	_, _ = io.Copy(w, stream) // what a watch ends with is of no interest
	_ = stream.Close()
	w.tell()
}

// Write takes the text of events, of which it only matters that they are there.
func (w *changes) Write(events []byte) (int, error) {
	w.tell()
	return len(events), nil
}

func (w *changes) tell() {
	select {
	case w.seen <- struct{}{}:
	default:
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := clock.RealClock{}.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}
