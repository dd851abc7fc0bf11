package registry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
	"sigs.k8s.io/yaml"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

// The targets below send any text as the body of a create, from decoding to storage: nothing panics, every refusal is a
// fault of the client, and what was stored is valid: it can be read, and written back as it is.

func FuzzStoredWorkload(f *testing.F) {
	fuzzStored(f, schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads"), "Workload", "workload-create", "workload-apply")
}

func FuzzStoredPodGroup(f *testing.F) {
	fuzzStored(f, schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups"), "PodGroup", "podgroup-create", "podgroup-status")
}

func FuzzStoredJob(f *testing.F) {
	fuzzStored(f, batchv1.SchemeGroupVersion.WithResource("jobs"), "Job", "job-create", "job-update")
}

func fuzzStored(f *testing.F, resource schema.GroupVersionResource, kind string, families ...string) {
	f.Helper()
	bodies := recordedBodies(f, kind, families)
	for i := 0; i < len(bodies); i += 1 + len(bodies)/16 { // a few: each costs time before the fuzzing begins
		text := bodies[i]
		f.Add(text, false)
		spelled, err := yaml.JSONToYAML(text)
		require.NoError(f, err)
		f.Add(spelled, true)
	}
	storages := registrytest.New(f, features.Gates{})
	f.Fuzz(func(t *testing.T, text []byte, spelledAsYAML bool) {
		obj := decodeBody(t, text, spelledAsYAML)
		if obj == nil {
			return
		}
		if kinds, _, err := scheme.New().ObjectKinds(obj); err != nil || kinds[0].Kind != kind {
			return
		}
		object, err := meta.Accessor(obj)
		require.NoError(t, err)
		object.SetNamespace("ns") // of the request's path
		storeAndWriteBack(t, storages.Client(t, resource, "ns"), obj)
	})
}

// recordedBodies returns the objects that were sent to a kube-apiserver 1.36.3 to be created.
func recordedBodies(f *testing.F, kind string, families []string) [][]byte {
	f.Helper()
	var bodies [][]byte
	for _, family := range families {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", family+".json"))
		require.NoError(f, err)
		var cases []struct {
			Steps []struct {
				Request struct {
					Method string
					Body   json.RawMessage
				}
			}
		}
		require.NoError(f, json.Unmarshal(text, &cases))
		for _, recorded := range cases {
			for _, step := range recorded.Steps {
				var sent metav1.TypeMeta
				body := bytes.ReplaceAll(step.Request.Body, []byte("$NS"), []byte("ns"))
				if step.Request.Method == "POST" && json.Unmarshal(body, &sent) == nil && sent.Kind == kind {
					bodies = append(bodies, body)
				}
			}
		}
	}
	require.NotEmpty(f, bodies)
	return bodies
}

// decodeBody decodes a body as request handlers do, in both ways. It returns nil for what is refused.
func decodeBody(t *testing.T, text []byte, spelledAsYAML bool) runtime.Object {
	t.Helper()
	mediaType := runtime.ContentTypeJSON
	if spelledAsYAML {
		mediaType = runtime.ContentTypeYAML
	}
	serializer := scheme.New().Serializer
	info, found := runtime.SerializerInfoForMediaType(serializer.SupportedMediaTypes(), mediaType)
	require.True(t, found)
	obj, _, err := serializer.DecoderToVersion(info.Serializer, runtime.InternalGroupVersioner).Decode(text, nil, nil)
	strict, _, strictErr := serializer.DecoderToVersion(info.StrictSerializer, runtime.InternalGroupVersioner).Decode(text, nil, nil)
	switch {
	case strictErr == nil:
		require.NoError(t, err, "strict decoding accepts no more than lenient decoding")
		require.True(t, equality.Semantic.DeepEqual(obj, strict), cmp.Diff(obj, strict))
	case err == nil:
		require.True(t, runtime.IsStrictDecodingError(strictErr), strictErr)
	}
	if err != nil {
		return nil
	}
	return obj
}

// storeAndWriteBack creates an object and, if that is let pass, updates it with itself and removes it.
func storeAndWriteBack(t *testing.T, client registrytest.Client, obj runtime.Object) {
	t.Helper()
	created, err := client.Create(obj)
	if err != nil {
		if errors.Is(err, storage.ErrResourceVersionSetOnCreate) {
			return // the one mistake of clients that Kubernetes takes for its own
		}
		var status apierrors.APIStatus
		require.True(t, errors.As(err, &status), err)
		require.Less(t, status.Status().Code, int32(500), err)
		return
	}
	object, err := meta.Accessor(created)
	require.NoError(t, err)
	name := object.GetName()
	stored, err := client.Get(name)
	require.NoError(t, err)
	require.True(t, equality.Semantic.DeepEqual(created, stored), cmp.Diff(created, stored))

	updated, err := client.Update(name, "", func(runtime.Object) {})
	require.NoError(t, err, "what is stored is valid")
	// Defaults that only what was generated gave rise to, a Job's labels say, are written with the first update.
	updated.(metav1.Object).SetResourceVersion(stored.(metav1.Object).GetResourceVersion())
	require.True(t, equality.Semantic.DeepEqual(stored, updated), cmp.Diff(stored, updated))

	_, gone, err := client.Delete(name, &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	require.NoError(t, err)
	if !gone { // until its finalizers are
		_, err = client.Update(name, "", func(obj runtime.Object) { obj.(metav1.Object).SetFinalizers(nil) })
		require.NoError(t, err)
	}
	_, err = client.Get(name)
	require.True(t, apierrors.IsNotFound(err), err)
}
