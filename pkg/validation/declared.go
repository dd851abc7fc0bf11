package validation

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/features"
)

// declaredRules is a function of the generated validation package.
type declaredRules[T any] func(ctx context.Context, op operation.Operation, path *field.Path, obj, old T) field.ErrorList

// declared applies the rules that stand at the types. old is nil on create; on update, values that did not change are
// not judged again, so that an object stays valid when the rules become stricter.
func declared[T any](rules declaredRules[T], kind operation.Type, gates features.Gates, obj, old T) field.ErrorList {
	op := operation.Operation{Type: kind, Options: gates.Options()}
	return rules(context.Background(), op, nil, obj, old) //nolint:forbidigo // the rules take a context and read nothing from it
}
