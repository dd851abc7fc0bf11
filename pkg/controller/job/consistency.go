package job

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// errStale is returned by a sync that came before the caches showed what the sync before it wrote. It is tried again
// soon; nothing is wrong.
var errStale = errors.New("cache is behind the last write")

// progress is a cache that can tell how far it has come.
type progress interface {
	LastStoreSyncResourceVersion() string
}

// upToDate returns an error that wraps errStale unless both caches show the last writes for a Job. It takes resource
// versions for growing integers, as Kubernetes guarantees since 1.35 (KEP-5504).
func (r *reconciler) upToDate(key jobKey) error {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	record := r.memory.records[key]
	if record == nil {
		return nil
	}
	if err := isBehind(r.podStore, "pods", record.podVersion); err != nil {
		r.metrics.staleSync("", "pods")
		return err
	}
	if err := isBehind(r.jobStore, "jobs", record.jobVersion); err != nil {
		r.metrics.staleSync("batch", "jobs")
		return err
	}
	if record.podVersion != "" && r.podStore.LastStoreSyncResourceVersion() != "" {
		// The pods that were made are in the cache, though the events that tell of them may still be on their way.
		record.creations = 0
	}
	record.podVersion, record.jobVersion = "", ""
	return nil
}

// isBehind returns an error if a cache has not come as far as version. A cache that cannot tell is trusted.
func isBehind(store progress, resource, version string) error {
	seen := store.LastStoreSyncResourceVersion()
	if seen == "" || version == "" {
		return nil
	}
	if order, err := resourceversion.CompareResourceVersion(version, seen); err == nil && order > 0 {
		return fmt.Errorf("reading %s at version %s, written at %s: %w", resource, seen, version, errStale)
	}
	return nil
}

// wrotePod notes the version of a pod that was written for a Job.
func (m *memory) wrotePod(key jobKey, version string) {
	m.change(key, func(r *jobRecord) {
		r.podVersion = laterVersion(r.podVersion, version)
		m.podVersion = laterVersion(m.podVersion, version)
	})
}

// lastPodVersion returns the version of the last pod that was written for any Job, "" if none was.
func (m *memory) lastPodVersion() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.podVersion
}

// wroteJob notes the version of a Job whose status was written.
func (m *memory) wroteJob(key jobKey, version string) {
	m.change(key, func(r *jobRecord) { r.jobVersion = laterVersion(r.jobVersion, version) })
}

func laterVersion(a, b string) string {
	if a == "" {
		return b
	}
	if order, err := resourceversion.CompareResourceVersion(a, b); err == nil && order >= 0 {
		return a
	}
	return b
}
