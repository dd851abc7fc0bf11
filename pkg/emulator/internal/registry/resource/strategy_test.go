package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

func TestStrategyOfMostKinds(t *testing.T) {
	s := NewStrategy(runtime.NewScheme())
	assert.True(t, s.NamespaceScoped())
	assert.False(t, s.AllowCreateOnUpdate(t.Context()))
	assert.True(t, s.AllowUnconditionalUpdate(t.Context()))
	assert.Empty(t, s.Validate(t.Context(), nil))
	assert.Empty(t, s.ValidateUpdate(t.Context(), nil, nil))
}

func TestErrorsOfMetadataAreWordedAsIn136(t *testing.T) {
	path := field.NewPath("metadata")
	for name, tc := range map[string]struct{ err, want *field.Error }{
		"an owner's name": {
			field.Required(path.Child("ownerReferences").Index(1).Child("name"), ""),
			field.Invalid(path.Child("ownerReferences", "name"), "", "must not be empty"),
		},
		"an owner's version": {
			field.Required(path.Child("ownerReferences").Index(0).Child("apiVersion"), ""),
			field.Invalid(path.Child("ownerReferences", "apiVersion"), "", "version must not be empty"),
		},
		"what stands elsewhere stays": {
			field.Required(path.Child("name"), "x"),
			field.Required(path.Child("name"), "x"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			errs := Strategy{}.ValidateDeclaratively(t.Context(), nil, nil, field.ErrorList{tc.err}, operation.Update, rest.DeclarativeValidationConfig{})
			assert.Equal(t, field.ErrorList{tc.want}, errs)
		})
	}
}

func TestResetFields(t *testing.T) {
	sets := ResetFields("v1", []any{"spec"}, []any{"metadata", "ownerReferences"})
	assert.Len(t, sets, 1)
	assert.Equal(t, 2, sets["v1"].Size())
}

func TestRequestVersion(t *testing.T) {
	assert.Empty(t, RequestVersion(t.Context()))
	ctx := genericapirequest.WithRequestInfo(t.Context(), &genericapirequest.RequestInfo{APIGroup: "batch", APIVersion: "v1"})
	assert.Equal(t, schema.GroupVersion{Group: "batch", Version: "v1"}, RequestVersion(ctx))
}
