package resource

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
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
	for _, err := range errs {
		restate(err)
	}
	return errs
}

// restate puts an error about metadata as Kubernetes 1.36 does: owner references have no index, what they lack is
// invalid rather than required, and so is an operation of managed fields that does not exist.
func restate(err *field.Error) {
	const owners, managers = "metadata.ownerReferences", "metadata.managedFields"
	switch {
	case strings.HasPrefix(err.Field, owners+"["):
		_, name, _ := strings.Cut(err.Field, "]")
		err.Field = owners + name
		switch name {
		case "":
		case ".apiVersion":
			err.Type, err.Detail = field.ErrorTypeInvalid, "version must not be empty"
		default:
			err.Type, err.Detail = field.ErrorTypeInvalid, "must not be empty"
		}
	case strings.HasPrefix(err.Field, managers+"[") && strings.HasSuffix(err.Field, ".operation"):
		err.Type, err.Detail = field.ErrorTypeInvalid, "must be `Apply` or `Update`"
	}
}
