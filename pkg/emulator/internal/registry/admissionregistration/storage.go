package admissionregistration

import (
	"maps"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storages of the group's six resources, and of validatingadmissionpolicies/status.
func New(c resource.Config) (map[string]rest.Storage, error) {
	all := map[string]rest.Storage{}
	for _, make := range []func(resource.Config) (map[string]rest.Storage, error){
		newMutatingWebhooks, newValidatingWebhooks,
		newMutatingPolicies, newMutatingBindings, newValidatingPolicies, newValidatingBindings,
	} {
		storages, err := make(c)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, storages)
	}
	return all, nil
}

func newMutatingWebhooks(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.MutatingWebhookConfiguration
	_, storages, err := newKind(c, "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
		&admissionregistrationv1.MutatingWebhookConfigurationList{}, webhooksTable(c.Clock, func(k *kind) int { return len(k.Webhooks) }),
		strategy[kind, *kind]{
			content:        func(k *kind) any { return k.Webhooks },
			validate:       func(k *kind) field.ErrorList { return validateMutatingWebhooks(k, nil) },
			validateUpdate: validateMutatingWebhooks,
		})
	return storages, err
}

func newValidatingWebhooks(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.ValidatingWebhookConfiguration
	_, storages, err := newKind(c, "validatingwebhookconfigurations", "validatingwebhookconfiguration",
		&admissionregistrationv1.ValidatingWebhookConfigurationList{}, webhooksTable(c.Clock, func(k *kind) int { return len(k.Webhooks) }),
		strategy[kind, *kind]{
			content:        func(k *kind) any { return k.Webhooks },
			validate:       func(k *kind) field.ErrorList { return validateValidatingWebhooks(k, nil) },
			validateUpdate: validateValidatingWebhooks,
		})
	return storages, err
}

func newMutatingPolicies(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.MutatingAdmissionPolicy
	_, storages, err := newKind(c, "mutatingadmissionpolicies", "mutatingadmissionpolicy",
		&admissionregistrationv1.MutatingAdmissionPolicyList{},
		policiesTable("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", c.Clock, func(k *kind) (int, *admissionregistrationv1.ParamKind) {
			return len(k.Spec.Mutations), k.Spec.ParamKind
		}),
		strategy[kind, *kind]{
			content:        func(k *kind) any { return k.Spec },
			validate:       func(k *kind) field.ErrorList { return validateMutatingPolicy(k, nil) },
			validateUpdate: validateMutatingPolicy,
		})
	return storages, err
}

func newMutatingBindings(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.MutatingAdmissionPolicyBinding
	_, storages, err := newKind(c, "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
		&admissionregistrationv1.MutatingAdmissionPolicyBindingList{},
		bindingsTable(c.Clock, func(k *kind) (string, *admissionregistrationv1.ParamRef) { return k.Spec.PolicyName, k.Spec.ParamRef }),
		strategy[kind, *kind]{
			content:        func(k *kind) any { return k.Spec },
			validate:       validateMutatingBinding,
			validateUpdate: func(k, _ *kind) field.ErrorList { return validateMutatingBinding(k) },
		})
	return storages, err
}

func newValidatingPolicies(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.ValidatingAdmissionPolicy
	rules := strategy[kind, *kind]{
		content:        func(k *kind) any { return k.Spec },
		keepStatus:     func(k, old *kind) { k.Status = old.Status },
		validate:       func(k *kind) field.ErrorList { return validateValidatingPolicy(k, nil) },
		validateUpdate: validateValidatingPolicy,
	}
	main, storages, err := newKind(c, "validatingadmissionpolicies", "validatingadmissionpolicy",
		&admissionregistrationv1.ValidatingAdmissionPolicyList{},
		policiesTable("Validations", "Validations indicates the number of validation rules defined in this configuration", c.Clock, func(k *kind) (int, *admissionregistrationv1.ParamKind) {
			return len(k.Spec.Validations), k.Spec.ParamKind
		}), rules)
	if err != nil {
		return nil, err
	}
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped, base.Conditional = true, true
	storages["validatingadmissionpolicies/status"] = resource.NewSubresource(main, statusStrategy{base}).WithTable()
	return storages, nil
}

func newValidatingBindings(c resource.Config) (map[string]rest.Storage, error) {
	type kind = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	_, storages, err := newKind(c, "validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
		&admissionregistrationv1.ValidatingAdmissionPolicyBindingList{},
		bindingsTable(c.Clock, func(k *kind) (string, *admissionregistrationv1.ParamRef) { return k.Spec.PolicyName, k.Spec.ParamRef }),
		strategy[kind, *kind]{
			content:        func(k *kind) any { return k.Spec },
			validate:       validateValidatingBinding,
			validateUpdate: func(k, _ *kind) field.ErrorList { return validateValidatingBinding(k) },
		})
	return storages, err
}

// newKind makes the storage of one of the kinds.
func newKind[T any, P object[T]](c resource.Config, plural, singular string, list runtime.Object, table rest.TableConvertor, rules strategy[T, P],
) (*resource.REST, map[string]rest.Storage, error) {
	rules.Strategy = resource.NewStrategy(c.Typer)
	rules.ClusterScoped, rules.Conditional = true, true
	main, err := resource.New(resource.Definition{
		Resource:   admissionregistrationv1.SchemeGroupVersion.WithResource(plural).GroupResource(),
		Singular:   singular,
		Categories: []string{"api-extensions"},
		New:        func() runtime.Object { return P(new(T)) },
		NewList:    list.DeepCopyObject,
		Strategy:   rules,
		Table:      table,
	}, c.Getter)
	if err != nil {
		return nil, nil, err
	}
	if c.AdmissionChanged != nil {
		observe(main.Store, func() { c.AdmissionChanged(plural) })
	}
	return main, map[string]rest.Storage{plural: main}, nil
}

// same compares contents as Kubernetes does to tell whether there is a new generation.
func same(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }
