package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

var _ rest.DeclarativeValidationStrategy = Strategy{}

// DeclarativeValidationConfig implements rest.DeclarativeValidationStrategy.
func (Strategy) DeclarativeValidationConfig(context.Context, runtime.Object, runtime.Object) rest.DeclarativeValidationConfig {
	return rest.DeclarativeValidationConfig{}
}

// ValidateDeclaratively implements rest.DeclarativeValidationStrategy. The library round the strategies checks metadata
// of its own accord, and speaks as Kubernetes 1.37 does of owner references and managed fields; this is where its errors
// can be put as 1.36 puts them. It validates nothing: the kinds' rules are in Validate and ValidateUpdate.
func (Strategy) ValidateDeclaratively(_ context.Context, _, _ runtime.Object, errs field.ErrorList, _ operation.Type, _ rest.DeclarativeValidationConfig) field.ErrorList {
	return metadata.As136(errs, field.NewPath("metadata"))
}
