package hooks

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// newCompiler returns a compiler that knows variables. The environment is the library's own, which keeps it.
func newCompiler(variables []admissionregistrationv1.Variable, options plugincel.OptionalVariableDeclarations) (*plugincel.CompositedCompiler, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	named := make([]plugincel.NamedExpressionAccessor, 0, len(variables))
	for _, variable := range variables {
		named = append(named, &validatingpolicy.Variable{Name: variable.Name, Expression: variable.Expression})
	}
	compiler.CompileAndStoreVariables(named, options, environment.StoredExpressions)
	return compiler, nil
}

// newMatcher compiles match conditions; it returns nil if there are none.
func newMatcher(compiler *plugincel.CompositedCompiler, conditions []admissionregistrationv1.MatchCondition, options plugincel.OptionalVariableDeclarations,
	failure *admissionregistrationv1.FailurePolicyType, policy string) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	expressions := make([]plugincel.ExpressionAccessor, 0, len(conditions))
	for i := range conditions {
		expressions = append(expressions, (*matchconditions.MatchCondition)(&conditions[i]))
	}
	condition := compiler.CompileCondition(expressions, options, environment.StoredExpressions)
	return matchconditions.NewMatcher(condition, failure, "policy", "validate", policy)
}

// compileValidating compiles a policy. What is wrong with it is in the result, for each request to meet.
func compileValidating(policy *admissionregistrationv1.ValidatingAdmissionPolicy) validatingpolicy.Validator {
	spec := &policy.Spec
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	messageOptions := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil}
	compiler, err := newCompiler(spec.Variables, options)
	if err != nil {
		return validatingpolicy.NewValidator(nil, nil, nil, nil, spec.FailurePolicy, err)
	}
	validations, messages := make([]plugincel.ExpressionAccessor, len(spec.Validations)), make([]plugincel.ExpressionAccessor, len(spec.Validations))
	for i, rule := range spec.Validations {
		validations[i] = &validatingpolicy.ValidationCondition{Expression: rule.Expression, Message: rule.Message, Reason: rule.Reason}
		if rule.MessageExpression != "" {
			messages[i] = &validatingpolicy.MessageExpressionCondition{MessageExpression: rule.MessageExpression}
		}
	}
	annotations := make([]plugincel.ExpressionAccessor, len(spec.AuditAnnotations))
	for i, annotation := range spec.AuditAnnotations {
		annotations[i] = &validatingpolicy.AuditAnnotationCondition{Key: annotation.Key, ValueExpression: annotation.ValueExpression}
	}
	return validatingpolicy.NewValidator(
		compiler.CompileCondition(validations, options, environment.StoredExpressions),
		newMatcher(compiler, spec.MatchConditions, options, spec.FailurePolicy, policy.Name),
		compiler.CompileCondition(annotations, options, environment.StoredExpressions),
		compiler.CompileCondition(messages, messageOptions, environment.StoredExpressions),
		spec.FailurePolicy, nil)
}

// compileMutating compiles a policy. What is wrong with it is in the result, for each request to meet.
func compileMutating(policy *admissionregistrationv1.MutatingAdmissionPolicy) mutatingpolicy.PolicyEvaluator {
	spec := &policy.Spec
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	compiler, err := newCompiler(spec.Variables, options)
	if err != nil {
		return mutatingpolicy.PolicyEvaluator{Error: &apiservercel.Error{
			Type: apiservercel.ErrorTypeInternal, Detail: "failed to initialize CEL compiler: " + err.Error(), Cause: err,
		}}
	}
	compiled := mutatingpolicy.PolicyEvaluator{
		Matcher:            newMatcher(compiler, spec.MatchConditions, options, spec.FailurePolicy, policy.Name),
		CompositedCompiler: compiler,
	}
	options.HasPatchTypes = true
	for _, mutation := range spec.Mutations {
		switch {
		case mutation.PatchType == admissionregistrationv1.PatchTypeJSONPatch && mutation.JSONPatch != nil:
			expression := &patch.JSONPatchCondition{Expression: mutation.JSONPatch.Expression}
			compiled.Mutators = append(compiled.Mutators, patch.NewJSONPatcher(
				compiler.CompileMutatingEvaluator(expression, options, environment.StoredExpressions)))
		case mutation.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && mutation.ApplyConfiguration != nil:
			expression := &patch.ApplyConfigurationCondition{Expression: mutation.ApplyConfiguration.Expression}
			compiled.Mutators = append(compiled.Mutators, patch.NewApplyConfigurationPatcher(
				compiler.CompileMutatingEvaluator(expression, options, environment.StoredExpressions)))
		}
	}
	return compiled
}
