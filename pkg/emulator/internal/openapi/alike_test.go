package openapi

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// What is left out of a comparison changes nothing of its outcome, whatever differs.
func TestAlikeComparesAsEver(t *testing.T) {
	const rounds = 300
	// Fields of the Go types that 1.36 does not have, so that the schemas have not either.
	newer := regexp.MustCompile(`^(BindMountOptions|EvictionResponders|NodeAllocatableResourceClaimStatuses|VolumeHealth|Scheduling)$`)
	core, err := coreConverter()
	require.NoError(t, err)
	groups, err := groupsConverter()
	require.NoError(t, err)
	for name, kind := range map[string]struct {
		converter *quickConverter
		new       func() runtime.Object
	}{
		"pods": {core, func() runtime.Object {
			pod := &corev1.Pod{}
			pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
			return pod
		}},
		"jobs": {groups, func() runtime.Object {
			job := &batchv1.Job{}
			job.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
			return job
		}},
	} {
		t.Run(name, func(t *testing.T) {
			random := randfill.NewWithSeed(7).NilChance(0.5).NumElements(0, 3).MaxDepth(7).SkipFieldsWithPattern(newer).Funcs(
				func(quantity *resource.Quantity, c randfill.Continue) {
					*quantity = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
				},
				func(fields *metav1.FieldsV1, _ randfill.Continue) { fields.SetRawString(`{}`) },
				func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1e9), 0) },
				func(either *intstr.IntOrString, c randfill.Continue) { *either = intstr.FromInt32(c.Int31()) })
			choose := rand.New(rand.NewPCG(7, 11))
			differed := 0
			for range rounds {
				before, donor := kind.new(), kind.new()
				fill(random, before)
				fill(random, donor)
				after := before.DeepCopyObject()
				graft(choose, reflect.ValueOf(after).Elem(), reflect.ValueOf(donor).Elem())
				want := compared(t, checking{kind.converter.TypeConverter}, before, after)
				require.Equal(t, want.String(), compared(t, lazyConverter{func() (*quickConverter, error) { return kind.converter, nil }}, before, after).String())
				if !want.IsSame() {
					differed++
				}
			}
			assert.Greater(t, differed, rounds/3)
			assert.Less(t, differed, rounds)
		})
	}
}

// fill gives an object random content, but leaves it its kind.
func fill(random *randfill.Filler, obj runtime.Object) {
	kind := obj.GetObjectKind().GroupVersionKind()
	random.Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(kind)
}

// graft replaces some parts of a struct by those of another one.
func graft(choose *rand.Rand, to, from reflect.Value) {
	for i := range to.NumField() {
		field := to.Type().Field(i)
		switch dice := choose.IntN(12); {
		case !field.IsExported() || field.Name == "TypeMeta":
		case dice == 0:
			to.Field(i).Set(from.Field(i))
		case dice < 10 && field.Type.Kind() == reflect.Struct:
			graft(choose, to.Field(i), from.Field(i))
		}
	}
}

func compared(t *testing.T, converter managedfields.TypeConverter, before, after runtime.Object) *typed.Comparison {
	t.Helper()
	left, err := converter.ObjectToTyped(before, typed.AllowDuplicates)
	require.NoError(t, err)
	right, err := converter.ObjectToTyped(after, typed.AllowDuplicates)
	require.NoError(t, err)
	comparison, err := left.Compare(right)
	require.NoError(t, err)
	return comparison
}

// BenchmarkCompare compares a pod with none, as for a create, and with one of another status.
func BenchmarkCompare(b *testing.B) {
	empty := &corev1.Pod{}
	empty.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	before := podWith(func(pod *corev1.Pod) { pod.SetGroupVersionKind(empty.GroupVersionKind()) })
	after := before.DeepCopy()
	after.Status.Phase = corev1.PodSucceeded
	core, err := coreConverter()
	require.NoError(b, err)
	for name, converter := range map[string]managedfields.TypeConverter{"alike": TypeConverter(""), "field by field": core.TypeConverter} {
		_, err := converter.ObjectToTyped(before, typed.AllowDuplicates) // the first of a kind is checked
		require.NoError(b, err)
		right, err := converter.ObjectToTyped(after, typed.AllowDuplicates)
		require.NoError(b, err)
		for with, old := range map[string]*corev1.Pod{"none": empty, "another status": before} {
			left, err := converter.ObjectToTyped(old, typed.AllowDuplicates)
			require.NoError(b, err)
			b.Run(with+", "+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := left.Compare(right); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
