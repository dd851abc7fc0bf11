package hooks

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// store is as much of a storage as a feed uses.
type store struct {
	rest.Storage
	rest.Lister
	reads int
	list  func() (*admissionregistrationv1.ValidatingAdmissionPolicyList, error)
}

// New and Destroy are in both interfaces.
func (*store) New() runtime.Object { return nil }
func (*store) Destroy()            {}

// List implements rest.Lister.
func (s *store) List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error) {
	s.reads++
	return s.list()
}

func policyNamed(name, version string) admissionregistrationv1.ValidatingAdmissionPolicy {
	return admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func makeFeed(t *testing.T, s *store) *feed[*admissionregistrationv1.ValidatingAdmissionPolicy] {
	t.Helper()
	f, err := newFeed[*admissionregistrationv1.ValidatingAdmissionPolicy](validatingPolicies,
		map[schema.GroupVersion]map[string]rest.Storage{admissionregistrationv1.SchemeGroupVersion: {validatingPolicies: s}})
	require.NoError(t, err)
	return f
}

func TestFeedReadsAgainAfterWrites(t *testing.T) {
	items := []admissionregistrationv1.ValidatingAdmissionPolicy{policyNamed("b", "2"), policyNamed("a", "1")}
	s := &store{list: func() (*admissionregistrationv1.ValidatingAdmissionPolicyList, error) {
		return &admissionregistrationv1.ValidatingAdmissionPolicyList{Items: items}, nil
	}}
	f := makeFeed(t, s)
	first, err := f.now(t.Context())
	require.NoError(t, err)
	require.Len(t, first.items, 2)
	assert.Equal(t, "a", first.items[0].Name, "sorted by name")
	again, err := f.now(t.Context())
	require.NoError(t, err)
	assert.Same(t, first, again)
	assert.Equal(t, 1, s.reads)

	f.count.Add(1)
	unchanged, err := f.now(t.Context())
	require.NoError(t, err)
	assert.Same(t, first, unchanged, "a write that changed nothing")
	assert.Equal(t, 2, s.reads)

	items = []admissionregistrationv1.ValidatingAdmissionPolicy{policyNamed("b", "3"), policyNamed("a", "1")}
	f.count.Add(1)
	changed, err := f.now(t.Context())
	require.NoError(t, err)
	assert.NotSame(t, first, changed)
	assert.Equal(t, "3", changed.items[1].ResourceVersion)
}

func TestFeedReadsAgainAfterWritesDuringARead(t *testing.T) {
	var f *feed[*admissionregistrationv1.ValidatingAdmissionPolicy]
	s := &store{}
	s.list = func() (*admissionregistrationv1.ValidatingAdmissionPolicyList, error) {
		if s.reads == 1 {
			f.count.Add(1) // comes too late for this read
			return &admissionregistrationv1.ValidatingAdmissionPolicyList{}, nil
		}
		return &admissionregistrationv1.ValidatingAdmissionPolicyList{Items: []admissionregistrationv1.ValidatingAdmissionPolicy{policyNamed("a", "1")}}, nil
	}
	f = makeFeed(t, s)
	_, err := f.now(t.Context())
	require.NoError(t, err)
	second, err := f.now(t.Context())
	require.NoError(t, err)
	assert.Len(t, second.items, 1)
}

func TestFeedThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	f := makeFeed(t, &store{list: func() (*admissionregistrationv1.ValidatingAdmissionPolicyList, error) { return nil, broken }})
	_, err := f.now(t.Context())
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "reading validatingadmissionpolicies.admissionregistration.k8s.io: ")
	_, err = newFeed[*admissionregistrationv1.ValidatingAdmissionPolicy](validatingPolicies, nil)
	require.ErrorContains(t, err, "not served")
}
