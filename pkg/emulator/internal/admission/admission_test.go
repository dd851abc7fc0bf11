package admission_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/admission"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

var (
	podsResource       = corev1.SchemeGroupVersion.WithResource("pods")
	namespacesResource = corev1.SchemeGroupVersion.WithResource("namespaces")
	nodesResource      = corev1.SchemeGroupVersion.WithResource("nodes")
	jobsResource       = batchv1.SchemeGroupVersion.WithResource("jobs")
	classesResource    = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")
	groupsResource     = schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups")
	workloadsResource  = schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads")
)

// cluster is admission control over storages of its own.
type cluster struct {
	t        *testing.T
	storages registrytest.Storages
	chain    k8sadmission.Interface
}

func newCluster(t *testing.T, gates features.Gates, disabled ...string) cluster {
	t.Helper()
	storages := registrytest.New(t, gates)
	chain, err := admission.New(admission.Config{Gates: gates, Storages: storages, Disabled: disabled})
	require.NoError(t, err)
	return cluster{t, storages, chain}
}

// has creates objects that are there before.
func (c cluster) has(resource schema.GroupVersionResource, namespace string, objects ...runtime.Object) {
	c.t.Helper()
	for _, obj := range objects {
		_, err := c.storages.Client(c.t, resource, namespace).Create(obj)
		require.NoError(c.t, err)
	}
}

// request is what admission control is asked about.
type request struct {
	operation   k8sadmission.Operation
	kind        string
	resource    schema.GroupVersionResource
	subresource string
	namespace   string
	name        string
	obj, old    runtime.Object
}

func create(resource schema.GroupVersionResource, kind string, obj runtime.Object) request {
	return request{operation: k8sadmission.Create, resource: resource, kind: kind, namespace: "default", name: "x", obj: obj}
}

// admit asks the chain, which may change the object.
func (c cluster) admit(r request) error {
	c.t.Helper()
	attributes := k8sadmission.NewAttributesRecord(r.obj, r.old, r.resource.GroupVersion().WithKind(r.kind), r.namespace, r.name, r.resource, r.subresource, r.operation, nil, false, nil)
	ctx := registrytest.Context(c.t, r.resource, r.namespace)
	if !c.chain.Handles(r.operation) {
		return nil
	}
	if err := c.chain.(k8sadmission.MutationInterface).Admit(ctx, attributes, nil); err != nil {
		return err
	}
	return c.chain.(k8sadmission.ValidationInterface).Validate(ctx, attributes, nil)
}

func TestUnknownPluginsCannotBeDisabled(t *testing.T) {
	_, err := admission.New(admission.Config{Disabled: []string{"Priority", "Nonsense"}})
	assert.EqualError(t, err, "disabling admission plugins: not known: Nonsense")
}

func TestNamespaceLifecycle(t *testing.T) {
	c := newCluster(t, features.Gates{})
	c.has(namespacesResource, "", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "going"}})
	_, _, err := c.storages.Client(t, namespacesResource, "").Delete("going", &metav1.DeleteOptions{})
	require.NoError(t, err)

	in := func(namespace string, operation k8sadmission.Operation) request {
		r := create(corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", &corev1.ConfigMap{})
		r.namespace, r.operation = namespace, operation
		return r
	}
	assert.NoError(t, c.admit(in("default", k8sadmission.Create)))

	err = c.admit(in("absent", k8sadmission.Create))
	assert.True(t, apierrors.IsNotFound(err))
	assert.EqualError(t, err, `namespaces "absent" not found`)

	err = c.admit(in("going", k8sadmission.Create))
	assert.EqualError(t, err, `configmaps "x" is forbidden: unable to create new content in namespace going because it is being terminated`)
	assert.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
	assert.NoError(t, c.admit(in("going", k8sadmission.Update)))
	assert.NoError(t, c.admit(in("going", k8sadmission.Delete)))

	for name, immortal := range map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": false, "mine": false} {
		err := c.admit(request{operation: k8sadmission.Delete, resource: namespacesResource, kind: "Namespace", name: name, namespace: name})
		if !immortal {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, `namespaces "`+name+`" is forbidden: this namespace may not be deleted`)
	}
}

// counting counts the reads of a storage.
type counting struct {
	rest.Storage
	reads int
}

// Get implements rest.Getter.
func (c *counting) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	c.reads++
	return c.Storage.(rest.Getter).Get(ctx, name, options)
}

// TestNamespacesAreReadAgainWhenWritten has the plugin know when a namespace was last written.
func TestNamespacesAreReadAgainWhenWritten(t *testing.T) {
	c := newCluster(t, features.Gates{})
	namespaces := c.storages.Client(t, namespacesResource, "")
	c.has(namespacesResource, "", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	counted := &counting{Storage: c.storages[namespacesResource.GroupVersion()]["namespaces"]}
	revision := func(_ context.Context, name string) (int64, error) {
		stored, err := namespaces.Get(name)
		if apierrors.IsNotFound(err) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		object, err := meta.Accessor(stored)
		require.NoError(t, err)
		return strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	}
	var err error
	c.chain, err = admission.New(admission.Config{
		Storages:          map[schema.GroupVersion]map[string]rest.Storage{corev1.SchemeGroupVersion: {"namespaces": counted}},
		NamespaceRevision: revision,
	})
	require.NoError(t, err)
	r := create(corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", &corev1.ConfigMap{})
	r.namespace = "n"

	require.NoError(t, c.admit(r))
	require.NoError(t, c.admit(r))
	assert.Equal(t, 1, counted.reads)

	_, _, err = namespaces.Delete("n", &metav1.DeleteOptions{})
	require.NoError(t, err)
	for range 2 {
		assert.True(t, apierrors.HasStatusCause(c.admit(r), corev1.NamespaceTerminatingCause))
	}
	assert.Equal(t, 2, counted.reads)

	r.namespace = "absent"
	assert.True(t, apierrors.IsNotFound(c.admit(r)))
	c.has(namespacesResource, "", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "absent"}})
	assert.NoError(t, c.admit(r))
}

func TestTaintNodesByCondition(t *testing.T) {
	notReady := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}
	for name, tc := range map[string]struct {
		given, want []corev1.Taint
		disabled    []string
	}{
		"a new node is not ready":       {want: []corev1.Taint{notReady}},
		"one taint of a kind is enough": {given: []corev1.Taint{notReady}, want: []corev1.Taint{notReady}},
		"unless the plugin is off":      {disabled: []string{admission.TaintNodesByCondition}},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{Spec: corev1.NodeSpec{Taints: tc.given}}
			r := create(nodesResource, "Node", node)
			r.namespace = ""
			require.NoError(t, newCluster(t, features.Gates{}, tc.disabled...).admit(r))
			assert.Equal(t, tc.want, node.Spec.Taints)
		})
	}
}

func TestDefaultTolerationSeconds(t *testing.T) {
	c := newCluster(t, features.Gates{})
	for name, tc := range map[string]struct {
		given []corev1.Toleration
		want  int
	}{
		"a pod gets two":                      {want: 2},
		"one that it has it keeps":            {given: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}, want: 2},
		"whoever bears everything bears this": {given: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, want: 1},
		"to be placed is not to stay":         {given: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}, want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: tc.given}}
			require.NoError(t, c.admit(create(podsResource, "Pod", pod)))
			assert.Len(t, pod.Spec.Tolerations, tc.want)
		})
	}
	status := create(podsResource, "Pod", &corev1.Pod{})
	status.operation, status.subresource, status.old = k8sadmission.Update, "status", &corev1.Pod{}
	require.NoError(t, c.admit(status))
	assert.Empty(t, status.obj.(*corev1.Pod).Spec.Tolerations)
}

func TestRuntimeClass(t *testing.T) {
	const unfounded = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
	overhead := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	toleration := corev1.Toleration{Key: "sandbox", Operator: corev1.TolerationOpExists}
	class := &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc",
		Overhead:   &nodev1.Overhead{PodFixed: overhead},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "yes"}, Tolerations: []corev1.Toleration{toleration}},
	}
	plain := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "runc"}, Handler: "runc"}
	cases := map[string]struct {
		spec     corev1.PodSpec
		disabled []string
		want     string
		wantSpec corev1.PodSpec
	}{
		"a pod without overhead":                {},
		"an overhead comes from a class":        {spec: corev1.PodSpec{Overhead: overhead}, want: unfounded},
		"none is one, too":                      {spec: corev1.PodSpec{Overhead: corev1.ResourceList{}}, want: unfounded},
		"a class that is not there":             {spec: corev1.PodSpec{RuntimeClassName: new("kata")}, want: `pod rejected: RuntimeClass "kata" not found`},
		"a class need not have any":             {spec: corev1.PodSpec{RuntimeClassName: new("runc")}, wantSpec: corev1.PodSpec{RuntimeClassName: new("runc")}},
		"nothing is refused without the plugin": {spec: corev1.PodSpec{Overhead: overhead}, disabled: []string{admission.RuntimeClass}, wantSpec: corev1.PodSpec{Overhead: overhead}},
		"a pod takes after its class": {
			spec: corev1.PodSpec{RuntimeClassName: new("gvisor"), NodeSelector: map[string]string{"a": "b"}},
			wantSpec: corev1.PodSpec{
				RuntimeClassName: new("gvisor"), Overhead: overhead,
				NodeSelector: map[string]string{"a": "b", "sandbox": "yes"}, Tolerations: []corev1.Toleration{toleration},
			},
		},
		"another overhead than that of the class": {
			spec: corev1.PodSpec{RuntimeClassName: new("gvisor"), Overhead: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
			want: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
		},
		"other nodes than those of the class": {
			spec: corev1.PodSpec{RuntimeClassName: new("gvisor"), NodeSelector: map[string]string{"sandbox": "no"}},
			want: "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: tc.spec}
			c := newCluster(t, features.Gates{}, append(tc.disabled, admission.NamespaceLifecycle, admission.Priority, admission.DefaultTolerationSeconds)...)
			classes := nodev1.SchemeGroupVersion.WithResource("runtimeclasses")
			c.has(classes, "", class.DeepCopy())
			c.has(classes, "", plain.DeepCopy())
			err := c.admit(create(podsResource, "Pod", pod))
			if tc.want == "" {
				require.NoError(t, err)
				assert.True(t, equality.Semantic.DeepEqual(tc.wantSpec, pod.Spec), cmp.Diff(tc.wantSpec, pod.Spec))
				return
			}
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPodTopologyLabels(t *testing.T) {
	c := newCluster(t, features.Gates{})
	c.has(nodesResource, "", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{
		corev1.LabelTopologyZone: "z", corev1.LabelTopologyRegion: "r", corev1.LabelHostname: "h",
	}}})
	want := map[string]string{corev1.LabelTopologyZone: "z", corev1.LabelTopologyRegion: "r"}

	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	bind := create(podsResource, "Binding", binding)
	bind.subresource = "binding"
	require.NoError(t, c.admit(bind))
	assert.Equal(t, want, binding.Labels)

	placed := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}
	require.NoError(t, c.admit(create(podsResource, "Pod", placed)))
	assert.Equal(t, want, placed.Labels)

	unknown := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "no one"}}
	require.NoError(t, c.admit(create(podsResource, "Pod", unknown)))
	assert.Empty(t, unknown.Labels)
}
