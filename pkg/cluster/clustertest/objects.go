package clustertest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
)

// split takes a name apart that is namespace/name, or only a name in the default namespace.
func split(key string) (namespace, name string) {
	namespace, name, found := strings.Cut(key, "/")
	if !found {
		return metav1.NamespaceDefault, key
	}
	return namespace, name
}

// Job returns a Job by namespace/name, or by name alone in the default namespace. It fails the test if there is none.
func (c *Cluster) Job(key string) *batchv1.Job {
	c.t.Helper()
	namespace, name := split(key)
	job, err := c.Kube.BatchV1().Jobs(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatalf("getting job %s: %v", key, err)
	}
	return job
}

// PodGroup returns a PodGroup by namespace/name, or by name alone in the default namespace. It fails the test if there is
// none.
func (c *Cluster) PodGroup(key string) *schedulingv1alpha2.PodGroup {
	c.t.Helper()
	namespace, name := split(key)
	group, err := c.Muster.SchedulingV1alpha2().PodGroups(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatalf("getting pod group %s: %v", key, err)
	}
	return group
}

// Pods returns the pods of all namespaces that a label selector picks, such as "app=web", or all with an empty one. They
// are in the order in which they were made; those of one second are sorted by namespace and name.
func (c *Cluster) Pods(selector string) []corev1.Pod {
	c.t.Helper()
	return c.pods(metav1.NamespaceAll, selector)
}

// PodsOf returns the pods of a Job, which is named as for [Cluster.Job] and need not exist any more, in the order of
// [Cluster.Pods].
func (c *Cluster) PodsOf(job string) []corev1.Pod {
	c.t.Helper()
	namespace, name := split(job)
	return c.pods(namespace, labels.Set{batchv1.JobNameLabel: name}.String())
}

func (c *Cluster) pods(namespace, selector string) []corev1.Pod {
	c.t.Helper()
	list, err := c.Kube.CoreV1().Pods(namespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		c.t.Fatalf("listing pods %q: %v", selector, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// UntilFinished lets time pass until a Job, named as for [Cluster.Job], is Complete or Failed, and returns it as it then
// is. It fails the test if that takes longer than the limit, and says what the Job and its pods were waiting for.
func (c *Cluster) UntilFinished(job string, limit time.Duration) *batchv1.Job {
	c.t.Helper()
	var last *batchv1.Job
	c.until(limit, "the end of job "+job, func() bool {
		last = c.Job(job)
		_, finished := batch.Finished(last)
		return finished
	}, func() string { return c.whyUnfinished(last) })
	return last
}
