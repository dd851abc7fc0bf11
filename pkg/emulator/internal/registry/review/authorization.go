package review

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

type (
	anybody = authorizationv1.SubjectAccessReview
	local   = authorizationv1.LocalSubjectAccessReview
	self    = authorizationv1.SelfSubjectAccessReview
	rules   = authorizationv1.SelfSubjectRulesReview
)

// Authorization returns the storages of authorization.k8s.io/v1.
func Authorization(c resource.Config) (map[string]rest.Storage, error) {
	access := c.Access.Complete()
	return map[string]rest.Storage{
		"subjectaccessreviews": &review[anybody, *anybody]{
			singular: "subjectaccessreview",
			check:    func(_ context.Context, question *anybody) error { return invalid(validateAnybody(question)) },
			answer: func(ctx context.Context, question *anybody) (*anybody, error) {
				question.Status = decide(ctx, access.Authorizer, attributesOf(question.Spec))
				return question, nil
			},
		},
		"localsubjectaccessreviews": &review[local, *local]{
			singular: "localsubjectaccessreview", namespaced: true,
			check: checkLocal,
			answer: func(ctx context.Context, question *local) (*local, error) {
				question.Status = decide(ctx, access.Authorizer, attributesOf(question.Spec))
				return question, nil
			},
		},
		"selfsubjectaccessreviews": &review[self, *self]{
			singular: "selfsubjectaccessreview",
			check:    func(_ context.Context, question *self) error { return invalid(validateSelf(question)) },
			answer: func(ctx context.Context, question *self) (*self, error) {
				who, err := asker(ctx)
				if err != nil {
					return nil, err
				}
				question.Status = decide(ctx, access.Authorizer, attributes(who, question.Spec.ResourceAttributes, question.Spec.NonResourceAttributes))
				return question, nil
			},
		},
		"selfsubjectrulesreviews": &review[rules, *rules]{
			singular: "selfsubjectrulesreview",
			check: func(_ context.Context, question *rules) error {
				if question.Spec.Namespace == "" {
					return apierrors.NewBadRequest("no namespace on request")
				}
				return nil
			},
			answer: func(ctx context.Context, question *rules) (*rules, error) {
				who, err := asker(ctx)
				if err != nil {
					return nil, err
				}
				return list(ctx, access.Rules, who, question.Spec.Namespace), nil
			},
		},
	}, nil
}

func checkLocal(ctx context.Context, question *local) error {
	if err := invalid(validateLocal(question)); err != nil {
		return err
	}
	namespace := genericapirequest.NamespaceValue(ctx)
	if namespace == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("namespace is required on this type: %v", namespace))
	}
	if namespace != question.Namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("spec.resourceAttributes.namespace must match namespace: %v", namespace))
	}
	return nil
}

// invalid is the answer to a question that has errors. It does not name the kind: that of Kubernetes' internal objects
// is empty.
func invalid(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(authorizationv1.SchemeGroupVersion.WithKind("").GroupKind(), "", errs)
}

// attributesOf returns the request that a question is about, as that of the user whom it names.
func attributesOf(spec authorizationv1.SubjectAccessReviewSpec) authorizer.AttributesRecord {
	who := &user.DefaultInfo{Name: spec.User, Groups: spec.Groups, UID: spec.UID}
	for key, values := range spec.Extra {
		if who.Extra == nil {
			who.Extra = map[string][]string{}
		}
		who.Extra[key] = values
	}
	return attributes(who, spec.ResourceAttributes, spec.NonResourceAttributes)
}

// decide asks the authorizer.
func decide(ctx context.Context, by authorizer.Authorizer, request authorizer.AttributesRecord) authorizationv1.SubjectAccessReviewStatus {
	decision, reason, err := by.Authorize(ctx, request)
	return authorizationv1.SubjectAccessReviewStatus{
		Allowed:         decision == authorizer.DecisionAllow,
		Denied:          decision == authorizer.DecisionDeny,
		Reason:          reason,
		EvaluationError: evaluationError(err, request),
	}
}

// list returns what somebody may do in a namespace.
func list(ctx context.Context, by authorizer.RuleResolver, who user.Info, namespace string) *rules {
	resources, paths, incomplete, err := by.RulesFor(ctx, who, namespace)
	answer := &rules{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    make([]authorizationv1.ResourceRule, 0, len(resources)),
		NonResourceRules: make([]authorizationv1.NonResourceRule, 0, len(paths)),
		Incomplete:       incomplete,
	}}
	for _, rule := range resources {
		answer.Status.ResourceRules = append(answer.Status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: rule.GetVerbs(), APIGroups: rule.GetAPIGroups(), Resources: rule.GetResources(), ResourceNames: rule.GetResourceNames(),
		})
	}
	for _, rule := range paths {
		answer.Status.NonResourceRules = append(answer.Status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: rule.GetVerbs(), NonResourceURLs: rule.GetNonResourceURLs(),
		})
	}
	if err != nil {
		answer.Status.EvaluationError = err.Error()
	}
	return answer
}
