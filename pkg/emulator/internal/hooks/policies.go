package hooks

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
)

// policies are the policies of one kind with their bindings: P and B, compiled to E.
type policies[P, B object, E generic.Evaluator] struct {
	*admission.Handler
	hooks    *Hooks
	policies *feed[P]
	bindings *feed[B]

	compile    func(P) E
	params     func(P) *admissionregistrationv1.ParamKind
	policyName func(B) string
	// dispatcher makes what finds the policies that a request has to pass, and has it pass them.
	dispatcher func(*matching.Matcher) generic.Dispatcher[generic.PolicyHook[P, B, E]]

	mu       sync.Mutex
	started  generic.Dispatcher[generic.PolicyHook[P, B, E]]
	compiled map[string]compiled[E]
	// What the hooks were made of, and they themselves; nil if they have to be made again.
	madeOf struct {
		policies *snapshot[P]
		bindings *snapshot[B]
	}
	made []generic.PolicyHook[P, B, E]
}

// compiled is a policy that was compiled in some version.
type compiled[E any] struct {
	version   string
	evaluator E
}

// dispatch has a request pass the policies that are bound.
func (p *policies[P, B, E]) dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if exempt[a.GetResource().GroupResource()] {
		return nil
	}
	bindings, err := p.bindings.now(ctx)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(bindings.items) == 0 {
		return nil // a policy without a binding does nothing
	}
	all, err := p.policies.now(ctx)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(all.items) == 0 {
		return nil
	}
	dispatcher, hooks, err := p.current(all, bindings)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return dispatcher.Dispatch(ctx, a, o, hooks)
}

// current returns the hooks for the policies and bindings.
func (p *policies[P, B, E]) current(all *snapshot[P], bindings *snapshot[B]) (generic.Dispatcher[generic.PolicyHook[P, B, E]], []generic.PolicyHook[P, B, E], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started == nil {
		connected, err := p.hooks.clients()
		if err != nil {
			return nil, nil, err
		}
		p.started = p.dispatcher(matching.NewMatcher(p.hooks.namespaces(), connected.kubernetes))
	}
	if p.made != nil && p.madeOf.policies == all && p.madeOf.bindings == bindings {
		return p.started, p.made, nil
	}
	hooks, final := p.bind(all.items, bindings.items)
	p.made = nil
	if final {
		p.made, p.madeOf.policies, p.madeOf.bindings = hooks, all, bindings
	}
	return p.started, hooks, nil
}

// bind makes the hooks. They are not final while the kind of some parameters is not served: it may come to be.
func (p *policies[P, B, E]) bind(all []P, bindings []B) (hooks []generic.PolicyHook[P, B, E], final bool) {
	bound := map[string][]B{}
	for _, binding := range bindings {
		bound[p.policyName(binding)] = append(bound[p.policyName(binding)], binding)
	}
	kept := make(map[string]compiled[E], len(all))
	hooks, final = []generic.PolicyHook[P, B, E]{}, true
	for _, policy := range all {
		name := policy.GetName()
		if len(bound[name]) == 0 {
			continue
		}
		version := string(policy.GetUID()) + "/" + policy.GetResourceVersion()
		entry, ok := p.compiled[name]
		if !ok || entry.version != version {
			entry = compiled[E]{version, p.compile(policy)}
		}
		kept[name] = entry
		informer, scope, err := p.hooks.findParams(p.params(policy))
		final = final && err == nil
		hooks = append(hooks, generic.PolicyHook[P, B, E]{
			Policy: policy, Bindings: bound[name], Evaluator: entry.evaluator,
			ParamInformer: informer, ParamScope: scope, ConfigurationError: err,
		})
	}
	p.compiled = kept
	return hooks, final
}

type validatingPolicyPlugin struct {
	policies[*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding, validatingpolicy.Validator]
}

var _ admission.ValidationInterface = (*validatingPolicyPlugin)(nil)

func newValidatingPolicies(h *Hooks) (admission.Interface, error) {
	all, err := feedOf[*admissionregistrationv1.ValidatingAdmissionPolicy](h, validatingPolicies)
	if err != nil {
		return nil, err
	}
	bindings, err := feedOf[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](h, validatingBindings)
	if err != nil {
		return nil, err
	}
	p := &validatingPolicyPlugin{}
	p.Handler, p.hooks, p.policies.policies, p.bindings = allOperations(), h, all, bindings
	p.compile = compileValidating
	p.params = func(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *admissionregistrationv1.ParamKind {
		return policy.Spec.ParamKind
	}
	p.policyName = func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string {
		return binding.Spec.PolicyName
	}
	p.dispatcher = func(matcher *matching.Matcher) generic.Dispatcher[validatingpolicy.PolicyHook] {
		return validatingpolicy.NewDispatcher(h.authorizer, generic.NewPolicyMatcher(matcher))
	}
	return p, nil
}

// Validate implements admission.ValidationInterface.
func (p *validatingPolicyPlugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.dispatch(ctx, a, o)
}

type mutatingPolicyPlugin struct {
	policies[*admissionregistrationv1.MutatingAdmissionPolicy, *admissionregistrationv1.MutatingAdmissionPolicyBinding, mutatingpolicy.PolicyEvaluator]
}

var _ admission.MutationInterface = (*mutatingPolicyPlugin)(nil)

func newMutatingPolicies(h *Hooks) (admission.Interface, error) {
	all, err := feedOf[*admissionregistrationv1.MutatingAdmissionPolicy](h, mutatingPolicies)
	if err != nil {
		return nil, err
	}
	bindings, err := feedOf[*admissionregistrationv1.MutatingAdmissionPolicyBinding](h, mutatingBindings)
	if err != nil {
		return nil, err
	}
	p := &mutatingPolicyPlugin{}
	// The request of a DELETE has no object to mutate.
	p.Handler = admission.NewHandler(admission.Connect, admission.Create, admission.Update)
	p.hooks, p.policies.policies, p.bindings = h, all, bindings
	p.compile = compileMutating
	p.params = func(policy *admissionregistrationv1.MutatingAdmissionPolicy) *admissionregistrationv1.ParamKind {
		return policy.Spec.ParamKind
	}
	p.policyName = func(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) string {
		return binding.Spec.PolicyName
	}
	p.dispatcher = func(matcher *matching.Matcher) generic.Dispatcher[mutatingpolicy.PolicyHook] {
		return mutatingpolicy.NewDispatcher(h.authorizer, matcher, &schemas{ctx: h.life, clients: h.clients, read: map[schema.GroupVersion]document{}})
	}
	return p, nil
}

// Admit implements admission.MutationInterface.
func (p *mutatingPolicyPlugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.dispatch(ctx, a, o)
}
