package admissionregistration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// maxConditions is how many match conditions there may be.
const maxConditions = 64

// newEnvironment returns what new expressions may use: what Kubernetes 1.35 knows too, so that a cluster of 1.36 could be
// rolled back. The library keeps the one of each version for the process.
func newEnvironment() *environment.EnvSet {
	return environment.MustBaseEnvSet(version.MajorMinor(1, 35))
}

// compiler compiles the expressions of one object.
type compiler struct {
	plugincel.Compiler
	// composed has the variables of the object; nil if it has none.
	composed *plugincel.CompositedCompiler
	// params is whether expressions may use params.
	params bool
	// stored are expressions that were stored before. They may use all that a server knows.
	stored map[string]bool
}

// newCompiler returns a compiler, one that knows variables if compose is true.
func newCompiler(compose, params bool, stored map[string]bool) (compiler, error) {
	c := compiler{params: params, stored: stored}
	if !compose {
		c.Compiler = plugincel.NewCompiler(newEnvironment())
		return c, nil
	}
	composed, err := plugincel.NewCompositedCompiler(newEnvironment())
	if err != nil {
		return compiler{}, fmt.Errorf("making a compiler of expressions: %w", err)
	}
	c.Compiler, c.composed = composed, composed
	return c, nil
}

func (c compiler) mode(expression string) environment.Type {
	if c.stored[expression] {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// check compiles an expression.
func (c compiler) check(path *field.Path, expression plugincel.ExpressionAccessor, variables plugincel.OptionalVariableDeclarations) field.ErrorList {
	variables.HasParams = c.params
	result := c.CompileCELExpression(expression, variables, c.mode(expression.GetExpression()))
	return compileErrors(path, expression.GetExpression(), result.Error)
}

// checkVariable compiles a variable, which the expressions after it may use.
func (c compiler) checkVariable(path *field.Path, variable admissionregistrationv1.Variable) field.ErrorList {
	named := &validating.Variable{Name: variable.Name, Expression: variable.Expression}
	options := plugincel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: true}
	result := c.composed.CompileAndStoreVariable(named, options, c.mode(variable.Expression))
	return compileErrors(path, variable.Expression, result.Error)
}

func compileErrors(path *field.Path, expression string, err *apiservercel.Error) field.ErrorList {
	switch {
	case err == nil:
		return nil
	case err.Type == apiservercel.ErrorTypeRequired:
		return field.ErrorList{field.Required(path, err.Detail)}
	case err.Type == apiservercel.ErrorTypeInvalid:
		return field.ErrorList{field.Invalid(path, expression, err.Detail)}
	}
	return field.ErrorList{field.InternalError(path, err)}
}

// validateConditions validates match conditions, which know no variables.
func validateConditions(conditions []admissionregistrationv1.MatchCondition, params bool, stored map[string]bool, path *field.Path) field.ErrorList {
	if len(conditions) == 0 {
		return nil
	}
	var errs field.ErrorList
	if len(conditions) > maxConditions {
		errs = append(errs, field.TooMany(path, len(conditions), maxConditions))
	}
	c, err := newCompiler(false, params, stored)
	if err != nil {
		return append(errs, field.InternalError(path, err))
	}
	names := map[string]bool{}
	for i, condition := range conditions {
		at := path.Index(i)
		if expression := strings.TrimSpace(condition.Expression); expression == "" {
			errs = append(errs, field.Required(at.Child("expression"), ""))
		} else {
			errs = append(errs, c.check(at.Child("expression"), &matchconditions.MatchCondition{Expression: expression},
				plugincel.OptionalVariableDeclarations{HasAuthorizer: true})...)
		}
		if condition.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		errs = append(errs, validateQualifiedName(condition.Name, at.Child("name"))...)
		if names[condition.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), condition.Name))
		}
		names[condition.Name] = true
	}
	return errs
}

func validateQualifiedName(name string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range validation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

// identifier is what CEL calls IDENT, less the words that it keeps for itself.
var identifier = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")

var reservedWords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while",
}

func validateVariable(c compiler, variable admissionregistrationv1.Variable, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case strings.TrimSpace(variable.Name) == "":
		errs = append(errs, field.Required(path.Child("name"), "name is not specified"))
	case !identifier.MatchString(variable.Name) || slices.Contains(reservedWords, variable.Name):
		errs = append(errs, field.Invalid(path.Child("name"), variable.Name, "must be a valid CEL identifier"))
	}
	if strings.TrimSpace(variable.Expression) == "" {
		return append(errs, field.Required(path.Child("expression"), "expression is not specified"))
	}
	return append(errs, c.checkVariable(path.Child("expression"), variable)...)
}
