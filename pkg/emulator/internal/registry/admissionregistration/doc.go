// Package admissionregistration serves what configures admission: MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations, MutatingAdmissionPolicies, ValidatingAdmissionPolicies and the bindings of both, in
// admissionregistration.k8s.io/v1. [New] is its entry point. It stores and checks them, expressions included; calling
// webhooks and evaluating policies is the matter of package hooks.
//
// Whether the author of a policy may read the kind of its parameters is not asked.
package admissionregistration
