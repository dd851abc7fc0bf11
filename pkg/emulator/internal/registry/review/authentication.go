package review

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// Authentication returns the storages of authentication.k8s.io/v1.
func Authentication(c resource.Config) (map[string]rest.Storage, error) {
	access := c.Access.Complete()
	return map[string]rest.Storage{
		"tokenreviews": &review[authenticationv1.TokenReview, *authenticationv1.TokenReview]{
			singular: "tokenreview",
			check:    checkToken,
			answer: func(ctx context.Context, question *authenticationv1.TokenReview) (*authenticationv1.TokenReview, error) {
				return reviewToken(ctx, access.Tokens, question), nil
			},
		},
		"selfsubjectreviews": &review[authenticationv1.SelfSubjectReview, *authenticationv1.SelfSubjectReview]{
			singular: "selfsubjectreview",
			answer: func(ctx context.Context, _ *authenticationv1.SelfSubjectReview) (*authenticationv1.SelfSubjectReview, error) {
				who, err := asker(ctx)
				if err != nil {
					return nil, err
				}
				return &authenticationv1.SelfSubjectReview{
					ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(c.Clock.Now())},
					Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: userInfo(who)},
				}, nil
			},
		},
	}, nil
}

func checkToken(ctx context.Context, question *authenticationv1.TokenReview) error {
	if namespace := genericapirequest.NamespaceValue(ctx); namespace != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("namespace is not allowed on this type: %v", namespace))
	}
	if question.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	return nil
}

// reviewToken says whose token it is, for the audiences that the question names or for this server.
func reviewToken(ctx context.Context, tokens authenticator.Token, question *authenticationv1.TokenReview) *authenticationv1.TokenReview {
	if len(question.Spec.Audiences) > 0 {
		ctx = authenticator.WithAudiences(ctx, question.Spec.Audiences)
	}
	response, ok, err := tokens.AuthenticateToken(ctx, question.Spec.Token)
	question.Status = authenticationv1.TokenReviewStatus{Authenticated: ok}
	if err != nil {
		question.Status.Error = err.Error()
	}
	if response != nil {
		question.Status.User = userInfo(response.User)
		question.Status.Audiences = response.Audiences
	}
	return question
}

func userInfo(who user.Info) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups()}
	for key, values := range who.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}
