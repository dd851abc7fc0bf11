package plain_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

// sample is an object of a kind, and what the general tests do with it.
type sample struct {
	// manifest has what must be given, without name and namespace.
	manifest string
	// change, if given, is a JSON merge of what the object wants that is let pass and counted, if generation is set.
	change     string
	generation bool
	// status is one that is accepted.
	status string
}

const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

const selected = `"selector":{"matchLabels":{"a":"b"}},"template":` + template

// samples has one for each resource of the table.
func samples() map[string]sample {
	claim := `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
	devices := `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu.example.com"}}]}}`
	return map[string]sample{
		"v1 Endpoints endpoints": {manifest: `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`, change: `{"subsets":null}`},
		"v1 LimitRange limitranges": {
			manifest: `{"spec":{"limits":[{"type":"Container","max":{"cpu":"2"}}]}}`, change: `{"spec":{"limits":[{"type":"Container","max":{"cpu":"3"}}]}}`,
		},
		"v1 PersistentVolumeClaim persistentvolumeclaims": {manifest: claim, change: `{"spec":{"volumeName":"v"}}`, status: `{"phase":"Bound"}`},
		"v1 PersistentVolume persistentvolumes": {
			manifest: `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`,
			change:   `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, status: `{"phase":"Available"}`,
		},
		"v1 PodTemplate podtemplates": {
			manifest: `{"template":` + template + `}`, change: `{"template":{"spec":{"hostNetwork":true}}}`, generation: true,
		},
		"v1 ReplicationController replicationcontrollers": {
			manifest: `{"spec":{"template":` + template + `}}`, change: `{"spec":{"replicas":2}}`, generation: true, status: `{"replicas":1}`,
		},
		"v1 ResourceQuota resourcequotas": {
			manifest: `{"spec":{"hard":{"pods":"3"}}}`, change: `{"spec":{"hard":{"pods":"4"}}}`, status: `{"hard":{"pods":"3"},"used":{"pods":"1"}}`,
		},
		"v1 Service services": {
			manifest: `{"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}}`, change: `{"spec":{"selector":{"a":"c"}}}`,
			status: `{"loadBalancer":{"ingress":[{"hostname":"a.example.com"}]}}`,
		},
		"apps/v1 ControllerRevision controllerrevisions": {manifest: `{"revision":1,"data":{"a":"b"}}`, change: `{"revision":2}`},
		"apps/v1 DaemonSet daemonsets": {
			manifest: `{"spec":{` + selected + `}}`, change: `{"spec":{"minReadySeconds":2}}`, generation: true, status: `{"numberReady":1,"currentNumberScheduled":1,"desiredNumberScheduled":1,"numberMisscheduled":0}`,
		},
		"apps/v1 Deployment deployments": {
			manifest: `{"spec":{` + selected + `}}`, change: `{"spec":{"paused":true}}`, generation: true, status: `{"replicas":2,"readyReplicas":1}`,
		},
		"apps/v1 ReplicaSet replicasets": {
			manifest: `{"spec":{` + selected + `}}`, change: `{"spec":{"replicas":2}}`, generation: true, status: `{"replicas":2}`,
		},
		"apps/v1 StatefulSet statefulsets": {
			manifest: `{"spec":{"serviceName":"s",` + selected + `}}`, change: `{"spec":{"replicas":2}}`, generation: true, status: `{"replicas":2,"readyReplicas":1}`,
		},
		"autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers": {
			manifest: `{"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`, change: `{"spec":{"maxReplicas":4}}`, status: `{"currentReplicas":1,"desiredReplicas":1}`,
		},
		"batch/v1 CronJob cronjobs": {
			manifest:   `{"spec":{"schedule":"*/5 * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`,
			change:     `{"spec":{"suspend":true}}`,
			generation: true, status: `{"active":[{"name":"j"}]}`,
		},
		"discovery.k8s.io/v1 EndpointSlice endpointslices": {
			manifest: `{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"port":80}]}`, change: `{"ports":[{"port":81}]}`, generation: true,
		},
		"networking.k8s.io/v1 IngressClass ingressclasses": {
			manifest: `{"spec":{"controller":"example.com/c"}}`, change: `{"spec":{"parameters":{"kind":"K","name":"n"}}}`, generation: true,
		},
		"networking.k8s.io/v1 Ingress ingresses": {
			manifest: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`, change: `{"spec":{"ingressClassName":"c"}}`, generation: true,
			status: `{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}`,
		},
		"networking.k8s.io/v1 NetworkPolicy networkpolicies": {manifest: `{"spec":{"podSelector":{}}}`, change: `{"spec":{"podSelector":{"matchLabels":{"a":"b"}}}}`, generation: true},
		"node.k8s.io/v1 RuntimeClass runtimeclasses":         {manifest: `{"handler":"runc"}`, change: `{"scheduling":{"nodeSelector":{"a":"b"}}}`},
		"policy/v1 PodDisruptionBudget poddisruptionbudgets": {
			manifest: `{"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`, change: `{"spec":{"minAvailable":2}}`, generation: true, status: `{"disruptionsAllowed":1,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}`,
		},
		"resource.k8s.io/v1 DeviceClass deviceclasses": {
			manifest: `{"spec":{"selectors":[{"cel":{"expression":"true"}}]}}`, change: `{"spec":{"selectors":null}}`, generation: true,
		},
		"resource.k8s.io/v1 ResourceClaim resourceclaims":                 {manifest: `{"spec":` + devices + `}`, status: `{"allocation":{"devices":{}}}`},
		"resource.k8s.io/v1 ResourceClaimTemplate resourceclaimtemplates": {manifest: `{"spec":{"spec":` + devices + `}}`},
		"resource.k8s.io/v1 ResourceSlice resourceslices": {
			manifest: `{"spec":{"driver":"gpu.example.com","nodeName":"n","pool":{"name":"p","resourceSliceCount":1}}}`,
			change:   `{"spec":{"devices":[{"name":"d"}]}}`, generation: true,
		},
		"storage.k8s.io/v1 StorageClass storageclasses": {manifest: `{"provisioner":"example.com/p"}`, change: `{"allowVolumeExpansion":true}`},
	}
}

// try is one sample with what it takes to use it.
type try struct {
	sample
	kind     schema.GroupVersionKind
	resource schema.GroupVersionResource
	storages registrytest.Storages
	client   registrytest.Client
	cluster  bool
}

func forEach(t *testing.T, test func(t *testing.T, s *try)) {
	t.Helper()
	for name, given := range samples() {
		t.Run(name, func(t *testing.T) {
			words := strings.Fields(name)
			version, err := schema.ParseGroupVersion(words[0])
			require.NoError(t, err)
			s := &try{sample: given, kind: version.WithKind(words[1]), resource: version.WithResource(words[2]), storages: registrytest.New(t, features.Gates{})}
			require.Contains(t, s.storages[version], words[2])
			namespace := "default"
			if s.cluster = !s.storages[version][words[2]].(rest.Scoper).NamespaceScoped(); s.cluster {
				namespace = ""
			}
			s.client = s.storages.Client(t, s.resource, namespace)
			test(t, s)
		})
	}
}

// decode returns an object of the kind as a request handler would.
func (s *try) decode(t *testing.T, manifest string) runtime.Object {
	t.Helper()
	content := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(manifest), &content))
	metadata := map[string]any{"name": "x"}
	if given, ok := content["metadata"].(map[string]any); ok {
		metadata = given
		metadata["name"] = "x"
	}
	if !s.cluster {
		metadata["namespace"] = "default"
	}
	content["metadata"], content["apiVersion"], content["kind"] = metadata, s.kind.GroupVersion().String(), s.kind.Kind
	text, err := yaml.Marshal(content)
	require.NoError(t, err)
	codecs := scheme.New().Codecs
	obj, err := runtime.Decode(codecs.DecoderToVersion(codecs.UniversalDeserializer(), s.kind.GroupVersion()), text)
	require.NoError(t, err)
	return obj
}

func (s *try) create(t *testing.T) runtime.Object {
	t.Helper()
	created, err := s.client.Create(s.decode(t, s.manifest))
	require.NoError(t, err)
	return created
}

func metaOf(obj runtime.Object) metav1.Object { return obj.(metav1.Object) }

// merge changes an object as a JSON merge patch does.
func merge(t *testing.T, obj runtime.Object, patch string) {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	var content, change map[string]any
	require.NoError(t, json.Unmarshal(text, &content))
	require.NoError(t, json.Unmarshal([]byte(patch), &change))
	mergeMaps(content, change)
	text, err = json.Marshal(content)
	require.NoError(t, err)
	target := reflect.ValueOf(obj).Elem()
	target.SetZero()
	require.NoError(t, json.Unmarshal(text, obj))
	scheme.New().Default(obj)
}

func mergeMaps(onto, from map[string]any) {
	for key, value := range from {
		inner, isMap := value.(map[string]any)
		old, wasMap := onto[key].(map[string]any)
		switch {
		case value == nil:
			delete(onto, key)
		case isMap && wasMap:
			mergeMaps(old, inner)
		default:
			onto[key] = value
		}
	}
}

// field returns a field of an object as JSON, "null" if there is none.
func field(t *testing.T, obj runtime.Object, name string) string {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(text, &content))
	part, err := json.Marshal(content[name])
	require.NoError(t, err)
	return string(part)
}

func TestEveryKindHasASample(t *testing.T) {
	known := map[string]bool{}
	for name := range samples() {
		words := strings.Fields(name)
		known[words[0]+" "+words[2]] = true
	}
	own := []string{ // served by packages of their own
		"v1 configmaps", "v1 events", "v1 namespaces", "v1 nodes", "v1 pods", "v1 secrets", "v1 serviceaccounts", "v1 bindings", "batch/v1 jobs",
	}
	for version, storages := range registrytest.New(t, features.Gates{}) {
		if !slices.ContainsFunc([]string{"", "apps", "autoscaling", "batch", "discovery.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "resource.k8s.io", "storage.k8s.io"},
			func(group string) bool { return group == version.Group }) {
			continue
		}
		for name := range storages {
			if full := version.String() + " " + name; !strings.Contains(name, "/") && !slices.Contains(own, full) {
				assert.True(t, known[full], "no sample of %s", full)
			}
		}
	}
}

func TestObjectsAreCreatedAndRead(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		created := s.create(t)
		assert.NotEmpty(t, metaOf(created).GetUID())
		assert.NotEmpty(t, metaOf(created).GetResourceVersion())
		want := int64(0)
		if s.generation || slices.Contains([]string{"IngressClass", "DeviceClass", "ResourceSlice"}, s.kind.Kind) {
			want = 1
		}
		assert.Equal(t, want, metaOf(created).GetGeneration())
		stored, err := s.client.Get("x")
		require.NoError(t, err)
		assert.Equal(t, created, stored)
		_, err = s.client.Create(s.decode(t, s.manifest))
		assert.True(t, apierrors.IsAlreadyExists(err), err)
	})
}

func TestNamesAreChecked(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		obj := s.decode(t, s.manifest)
		metaOf(obj).SetName("No Name")
		if s.kind.Kind == "PodDisruptionBudget" {
			_, err := s.client.Create(obj)
			require.NoError(t, err, "as in Kubernetes")
			return
		}
		_, err := s.client.Create(obj)
		require.True(t, apierrors.IsInvalid(err), err)
		assert.ErrorContains(t, err, `metadata.name: Invalid value: "No Name"`)
	})
}

func TestChangesAreCounted(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		before := metaOf(s.create(t))
		labelled, err := s.client.Update("x", "", func(obj runtime.Object) { metaOf(obj).SetFinalizers([]string{"example.com/f"}) })
		require.NoError(t, err)
		assert.Equal(t, before.GetGeneration(), metaOf(labelled).GetGeneration(), "metadata does not count")
		if s.change == "" {
			return
		}
		changed, err := s.client.Update("x", "", func(obj runtime.Object) { merge(t, obj, s.change) })
		require.NoError(t, err)
		want := before.GetGeneration()
		if s.generation {
			want++
		}
		assert.Equal(t, want, metaOf(changed).GetGeneration())
		assert.NotEqual(t, metaOf(labelled).GetResourceVersion(), metaOf(changed).GetResourceVersion())
		again, err := s.client.Update("x", "", func(runtime.Object) {})
		require.NoError(t, err)
		assert.Equal(t, changed, again, "nothing is written when nothing changes")
	})
}

func TestConflictsAreFound(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		created := s.create(t)
		_, err := s.client.Update("x", "", func(obj runtime.Object) { metaOf(obj).SetLabels(map[string]string{"z": "z"}) })
		require.NoError(t, err)
		_, err = s.client.Update("x", "", func(obj runtime.Object) {
			metaOf(obj).SetResourceVersion(metaOf(created).GetResourceVersion())
			metaOf(obj).SetLabels(nil)
		})
		assert.True(t, apierrors.IsConflict(err), err)
		_, err = s.client.Update("x", "", func(obj runtime.Object) { metaOf(obj).SetResourceVersion("") })
		if conditional := slices.Contains([]string{"PodDisruptionBudget", "RuntimeClass"}, s.kind.Kind); conditional {
			assert.True(t, apierrors.IsInvalid(err), err)
			assert.ErrorContains(t, err, "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
		} else {
			assert.NoError(t, err)
		}
	})
}

func TestStatusIsApart(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		if s.status == "" {
			assert.NotContains(t, s.storages[s.resource.GroupVersion()], s.resource.Resource+"/status")
			return
		}
		full := strings.TrimSuffix(s.manifest, "}") + `,"status":` + s.status + `}`
		created, err := s.client.Create(s.decode(t, full))
		require.NoError(t, err)
		empty := field(t, created, "status")

		updated, err := s.client.Update("x", "", func(obj runtime.Object) { merge(t, obj, `{"status":`+s.status+`}`) })
		require.NoError(t, err)
		assert.Equal(t, empty, field(t, updated, "status"), "an update leaves the status alone")

		changed, err := s.client.Update("x", "status", func(obj runtime.Object) {
			merge(t, obj, `{"status":`+s.status+`}`)
			if s.change != "" {
				merge(t, obj, s.change)
			}
		})
		require.NoError(t, err)
		assert.NotEqual(t, empty, field(t, changed, "status"))
		assert.Equal(t, field(t, created, "spec"), field(t, changed, "spec"), "a status update leaves the rest alone")
		assert.Equal(t, metaOf(created).GetGeneration(), metaOf(changed).GetGeneration())
	})
}

func TestFinalizersHoldObjects(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		obj := s.decode(t, s.manifest)
		metaOf(obj).SetFinalizers([]string{"example.com/f"})
		_, err := s.client.Create(obj)
		require.NoError(t, err)
		background := &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		_, gone, err := s.client.Delete("x", background)
		require.NoError(t, err)
		assert.False(t, gone)
		held, err := s.client.Get("x")
		require.NoError(t, err)
		assert.NotNil(t, metaOf(held).GetDeletionTimestamp())
		_, err = s.client.Update("x", "", func(obj runtime.Object) { metaOf(obj).SetFinalizers(nil) })
		require.NoError(t, err)
		_, err = s.client.Get("x")
		assert.True(t, apierrors.IsNotFound(err), err)
	})
}

func TestTablesFitTheirColumns(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		table := s.client.Table(s.create(t))
		require.NotEmpty(t, table.ColumnDefinitions)
		assert.Equal(t, "Name", table.ColumnDefinitions[0].Name)
		require.Len(t, table.Rows, 1)
		assert.Len(t, table.Rows[0].Cells, len(table.ColumnDefinitions))
		assert.Equal(t, "x", table.Rows[0].Cells[0])
	})
}
