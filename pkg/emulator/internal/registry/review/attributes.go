package review

import (
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// attributes returns the request that a question is about.
func attributes(who user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authorizer.AttributesRecord {
	if resource == nil {
		return authorizer.AttributesRecord{User: who, Verb: path.Verb, Path: path.Path}
	}
	request := authorizer.AttributesRecord{
		User: who, Verb: resource.Verb, Namespace: resource.Namespace, APIGroup: resource.Group, APIVersion: resource.Version,
		Resource: resource.Resource, Subresource: resource.Subresource, Name: resource.Name, ResourceRequest: true,
	}
	if request.APIVersion == "" {
		request.APIVersion = "*"
	}
	request.FieldSelectorRequirements, request.FieldSelectorParsingErr = fieldRequirements(resource.FieldSelector)
	request.LabelSelectorRequirements, request.LabelSelectorParsingErr = labelRequirements(resource.LabelSelector)
	return request
}

// fieldRequirements returns what can be understood of a selector, and an error for the rest. Leaving requirements out
// makes the question a wider one, which is the safe side.
func fieldRequirements(selector *authorizationv1.FieldSelectorAttributes) (fields.Requirements, error) {
	if selector == nil {
		return nil, nil
	}
	if selector.RawSelector != "" {
		parsed, err := fields.ParseSelector(selector.RawSelector)
		if err != nil {
			return nil, err
		}
		return parsed.Requirements(), nil
	}
	operators := map[metav1.FieldSelectorOperator]selection.Operator{
		metav1.FieldSelectorOpIn: selection.Equals, metav1.FieldSelectorOpNotIn: selection.NotEquals,
	}
	var requirements fields.Requirements
	var errs []error
	for _, requirement := range selector.Requirements {
		operator, known := operators[requirement.Operator]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("%q is no operator that field selectors support", requirement.Operator))
		case len(requirement.Values) != 1:
			errs = append(errs, errors.New("field selectors support one value"))
		default:
			requirements = append(requirements, fields.Requirement{Field: requirement.Key, Operator: operator, Value: requirement.Values[0]})
		}
	}
	return requirements, utilerrors.NewAggregate(errs)
}

// labelRequirements is fieldRequirements for labels.
func labelRequirements(selector *authorizationv1.LabelSelectorAttributes) (labels.Requirements, error) {
	if selector == nil {
		return nil, nil
	}
	if selector.RawSelector != "" {
		parsed, err := labels.Parse(selector.RawSelector)
		if err != nil {
			return nil, err
		}
		requirements, _ := parsed.Requirements()
		return requirements, nil
	}
	operators := map[metav1.LabelSelectorOperator]selection.Operator{
		metav1.LabelSelectorOpIn: selection.In, metav1.LabelSelectorOpNotIn: selection.NotIn,
		metav1.LabelSelectorOpExists: selection.Exists, metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
	}
	var requirements labels.Requirements
	var errs []error
	for _, requirement := range selector.Requirements {
		operator, known := operators[requirement.Operator]
		if !known {
			errs = append(errs, fmt.Errorf("%q is no operator that label selectors support", requirement.Operator))
			continue
		}
		made, err := labels.NewRequirement(requirement.Key, operator, requirement.Values)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		requirements = append(requirements, *made)
	}
	return requirements, utilerrors.NewAggregate(errs)
}

// evaluationError says what went wrong, and which selectors were not understood.
func evaluationError(err error, request authorizer.AttributesRecord) string {
	var all []string
	if err != nil {
		all = append(all, err.Error())
	}
	note := func(name string, err error, some bool) {
		switch {
		case err == nil:
		case some:
			all = append(all, fmt.Sprintf("spec.resourceAttributes.%s partially ignored due to parse error", name))
		default:
			all = append(all, fmt.Sprintf("spec.resourceAttributes.%s ignored due to parse error", name))
		}
	}
	note("fieldSelector", request.FieldSelectorParsingErr, len(request.FieldSelectorRequirements) > 0)
	note("labelSelector", request.LabelSelectorParsingErr, len(request.LabelSelectorRequirements) > 0)
	return strings.Join(all, "; ")
}
