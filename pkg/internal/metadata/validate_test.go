package metadata_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		change func(meta *metav1.ObjectMeta)
		want   []string
	}{
		"metadata as Kubernetes has it": {change: func(*metav1.ObjectMeta) {}},
		"finalizers have a domain, or are of Kubernetes": {
			change: func(meta *metav1.ObjectMeta) {
				meta.Finalizers = []string{"example.com/a", "kubernetes", "orphan", "b"}
			},
			want: []string{`metadata.finalizers[3]: Invalid value: "b": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"owner references are told without an index": {
			change: func(meta *metav1.ObjectMeta) {
				meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "A", Name: "a", UID: "u"}, {}}
			},
			want: []string{
				`metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty`,
				`metadata.ownerReferences.kind: Invalid value: "": must not be empty`,
				`metadata.ownerReferences.name: Invalid value: "": must not be empty`,
				`metadata.ownerReferences.uid: Invalid value: "": must not be empty`,
			},
		},
		"an operation that is none is invalid": {
			change: func(meta *metav1.ObjectMeta) {
				meta.ManagedFields = []metav1.ManagedFieldsEntry{{Operation: "Apply"}, {}, {Operation: "Foo"}}
			},
			want: []string{
				"metadata.managedFields[1].operation: Invalid value: \"\": must be `Apply` or `Update`",
				"metadata.managedFields[2].operation: Invalid value: \"Foo\": must be `Apply` or `Update`",
			},
		},
		"labels and annotations are told by their keys, and the size of all annotations last": {
			change: func(meta *metav1.ObjectMeta) {
				meta.Labels = map[string]string{"c": "-", "a": "-", "b": "-"}
				meta.Annotations = map[string]string{"d d": "", "c c": strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB)}
			},
			want: []string{
				`metadata.labels: Invalid value: "-"`, `metadata.labels: Invalid value: "-"`, `metadata.labels: Invalid value: "-"`,
				`metadata.annotations: Invalid value: "c c"`, `metadata.annotations: Invalid value: "d d"`, `metadata.annotations: Too long`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			meta := &metav1.ObjectMeta{Name: "a", Namespace: "b", ResourceVersion: "1"}
			tc.change(meta)
			path := field.NewPath("metadata")
			assertErrors(t, tc.want, metadata.Validate(meta, true, apivalidation.NameIsDNSSubdomain, path))
			assertErrors(t, tc.want, metadata.ValidateUpdate(meta, &metav1.ObjectMeta{Name: "a", Namespace: "b"}, path))
		})
	}
}

func TestValidateUpdateKeepsWhatTheServerDecides(t *testing.T) {
	old := &metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", Generation: 2, DeletionTimestamp: new(metav1.NewTime(time.Unix(1, 0)))}
	meta := &metav1.ObjectMeta{Name: "z", Namespace: "b", Generation: -1, Finalizers: []string{"example.com/new"}}
	assertErrors(t, []string{
		`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}`,
		`metadata.resourceVersion: Invalid value: "": must be specified for an update`,
		`metadata.generation: Invalid value: -1: must not be decremented`,
		`metadata.name: Invalid value: "z": field is immutable`,
		`metadata.uid: Invalid value: "": field is immutable`,
		`metadata.deletionTimestamp: Invalid value: null: field is immutable`,
	}, metadata.ValidateUpdate(meta, old, field.NewPath("metadata")))
}

// assertErrors compares errors by how they begin.
func assertErrors(t *testing.T, want []string, got field.ErrorList) {
	t.Helper()
	if !assert.Len(t, got, len(want), "%v", got) {
		return
	}
	for i, err := range got {
		assert.True(t, strings.HasPrefix(err.Error(), want[i]), "want %s\ngot  %s", want[i], err.Error())
	}
}
