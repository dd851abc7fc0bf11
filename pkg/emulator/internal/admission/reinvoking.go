package admission

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
)

// reinvoking has the plugins look at an object a second time if one of them asks for it: webhooks and policies whose
// reinvocationPolicy is IfNeeded do when others change the object after them.
type reinvoking struct{ chain admission.Interface }

var (
	_ admission.MutationInterface   = reinvoking{}
	_ admission.ValidationInterface = reinvoking{}
)

// Handles implements admission.Interface.
func (r reinvoking) Handles(operation admission.Operation) bool { return r.chain.Handles(operation) }

// Admit implements admission.MutationInterface.
func (r reinvoking) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	mutating, ok := r.chain.(admission.MutationInterface)
	if !ok {
		return nil
	}
	if err := mutating.Admit(ctx, a, o); err != nil {
		return err
	}
	again := a.GetReinvocationContext()
	if !again.ShouldReinvoke() {
		return nil
	}
	again.SetIsReinvoke()
	return mutating.Admit(ctx, a, o)
}

// Validate implements admission.ValidationInterface.
func (r reinvoking) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	validating, ok := r.chain.(admission.ValidationInterface)
	if !ok {
		return nil
	}
	return validating.Validate(ctx, a, o)
}
