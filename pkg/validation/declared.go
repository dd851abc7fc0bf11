package validation

import (
	"context"
	"slices"

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

// once leaves out a fault that reads like an earlier one. The server does so with what tags do not say, before it adds
// what they do.
func once(faults field.ErrorList) field.ErrorList {
	if len(faults) < 2 {
		return faults
	}
	seen := make(map[string]bool, len(faults))
	return slices.DeleteFunc(faults, func(fault *field.Error) bool {
		text := fault.Error()
		again := seen[text]
		seen[text] = true
		return again
	})
}
