package fakes

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// fact is something that a cluster does. By world, whether it does so too. What the fakes do not do is no fault of
// theirs: they say so. It is held here so that what is said of them elsewhere is true, and is changed when they change.
type fact struct {
	name  string
	holds func(t *testing.T, w world) bool
	want  map[string]bool
}

func facts() []fact {
	only := map[string]bool{"emulator": true}
	return []fact{
		{"a pod without containers is refused", refusesInvalid, only},
		{"defaults are filled in", fillsInDefaults, only},
		{"an update of an older version is a conflict", refusesStale, map[string]bool{"emulator": true, "controller-runtime fake": true}},
		{"a field that another manager has applied is a conflict", refusesOthersFields,
			map[string]bool{"emulator": true, "client-go fake": true, "controller-runtime fake": true}},
		{"a finalizer holds an object back", heedsFinalizers, map[string]bool{"emulator": true, "controller-runtime fake": true}},
		{"lists come in pages", listsInPages, only},
		{"a watch goes on from a resource version", resumesWatches, only},
		{"what has lost its owner is collected", collectsGarbage, only},
	}
}

func TestWhatEachDoesAsAClusterDoes(t *testing.T) {
	for _, f := range facts() {
		t.Run(f.name, func(t *testing.T) {
			each(t, func(t *testing.T, name string, w world) { assert.Equal(t, f.want[name], f.holds(t, w)) })
		})
	}
}

// What the README says of each is what they do.
func TestTheREADMEHasTheFacts(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	said := map[bool]string{true: "yes", false: "no"}
	for _, f := range facts() {
		row := "| " + f.name
		for _, of := range worlds {
			row += " | " + said[f.want[of.name]]
		}
		assert.Contains(t, string(readme), row+" |\n")
	}
}

func mustCreate(t *testing.T, w world, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	made, err := w.create(t.Context(), pod)
	require.NoError(t, err)
	return made
}

func refusesInvalid(t *testing.T, w world) bool {
	_, err := w.create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	return apierrors.IsInvalid(err)
}

func fillsInDefaults(t *testing.T, w world) bool {
	return mustCreate(t, w, newPod("a")).Spec.RestartPolicy == corev1.RestartPolicyAlways
}

func refusesStale(t *testing.T, w world) bool {
	first := mustCreate(t, w, newPod("a"))
	newer := first.DeepCopy()
	newer.Labels = map[string]string{"a": "b"}
	require.NoError(t, w.update(t.Context(), newer))
	first.Labels = map[string]string{"c": "d"}
	return apierrors.IsConflict(w.update(t.Context(), first))
}

func refusesOthersFields(t *testing.T, w world) bool {
	mustCreate(t, w, newPod("a"))
	require.NoError(t, w.apply(t.Context(), newApply("a", "1"), "one"))
	return apierrors.IsConflict(w.apply(t.Context(), newApply("a", "2"), "two"))
}

func heedsFinalizers(t *testing.T, w world) bool {
	pod := newPod("a")
	pod.Finalizers = []string{"example.com/hold"}
	mustCreate(t, w, pod)
	require.NoError(t, w.delete(t.Context(), "a"))
	left, err := w.get(t.Context(), "a")
	return err == nil && left.DeletionTimestamp != nil
}

func listsInPages(t *testing.T, w world) bool {
	for i := range 3 {
		mustCreate(t, w, newPod(podName(i)))
	}
	page, err := w.list(t.Context(), 2)
	require.NoError(t, err)
	return len(page.Items) == 2 && page.Continue != ""
}

func resumesWatches(t *testing.T, w world) bool {
	first := mustCreate(t, w, newPod(podName(0)))
	mustCreate(t, w, newPod(podName(1)))
	changes, err := w.watch(t.Context(), first.ResourceVersion)
	require.NoError(t, err)
	defer changes.Stop()
	mustCreate(t, w, newPod(podName(2)))
	// What was made before the watch comes first where the watch goes on from there.
	return (<-changes.ResultChan()).Object.(*corev1.Pod).Name == podName(1)
}

// collectsGarbage deletes the owner of a pod. Where nothing collects, nothing will ever happen.
func collectsGarbage(t *testing.T, w world) bool {
	owner := mustCreate(t, w, newPod("owner"))
	dependent := newPod("dependent")
	dependent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: owner.UID}}
	made := mustCreate(t, w, dependent)
	// From a version on, or the watch may begin when both are gone.
	changes, err := w.watch(t.Context(), made.ResourceVersion)
	require.NoError(t, err)
	defer changes.Stop()
	require.NoError(t, w.delete(t.Context(), owner.Name))
	for {
		select {
		case event := <-changes.ResultChan():
			if event.Type == watch.Deleted && event.Object.(*corev1.Pod).Name == dependent.Name {
				return true
			}
		case <-time.After(patience(w)):
			return false
		}
	}
}

// patience is how long to wait for something before it is taken for what will not happen: the fakes do what they do before
// a request returns.
func patience(w world) time.Duration {
	if c, ok := w.(clientset); ok {
		if _, real := c.kube.(*kubernetes.Clientset); real {
			return time.Minute
		}
	}
	return 100 * time.Millisecond
}
