package admission

import (
	"context"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// phases tells which namespaces are being deleted. Each create in a namespace asks, so one is decoded again only if it was
// written since: an answer is as new as the request.
type phases struct {
	read reader
	// revision returns the revision at which a namespace was last written, 0 if there is none. Nil if nobody knows.
	revision func(ctx context.Context, name string) (int64, error)
	// known has the phase of namespaces by name.
	known sync.Map
}

// phase is what a namespace was in since a revision.
type phase struct {
	revision    int64
	terminating bool
}

// terminating reports whether a namespace is being deleted, or returns the error NotFound about it.
func (p *phases) terminating(ctx context.Context, name string) (bool, error) {
	if p.revision != nil {
		revision, err := p.revision(ctx, name)
		if err != nil {
			return false, err
		}
		if known, found := p.known.Load(name); found && known.(phase).revision == revision {
			return known.(phase).terminating, nil
		}
	}
	obj, err := p.read.get(ctx, namespaces, "", name)
	if err != nil {
		p.known.Delete(name)
		return false, err
	}
	namespace := obj.(*corev1.Namespace)
	now := phase{terminating: namespace.Status.Phase == corev1.NamespaceTerminating}
	if now.revision, err = strconv.ParseInt(namespace.ResourceVersion, 10, 64); err == nil && p.revision != nil {
		p.known.Store(name, now)
	}
	return now.terminating, nil
}
