package emulator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/internal/check"
)

// serviceAccountTokenSeconds is how long the tokens of ServiceAccountConfig are valid: longer than a test goes on, also
// one that lets years pass in a bubble.
const serviceAccountTokenSeconds = 1 << 32

// User is somebody who may send requests with a token of [Options].Tokens.
type User struct {
	// Name is by what roles, managed fields of admission and error messages know the user. Required, and not shared with
	// another user.
	Name string
	// UID tells users apart who had the same name at different times. The default is none.
	UID string
	// Groups are the groups of the user; system:authenticated comes on top. The group system:masters may do everything.
	// The default is none.
	Groups []string
	// Extra is what else there is to know, as webhooks get to see it. The default is nothing.
	Extra map[string][]string
}

// info returns the user as requests carry one.
func (u User) info() user.Info {
	groups := slices.Clone(u.Groups)
	if !slices.Contains(groups, user.AllAuthenticated) {
		groups = append(groups, user.AllAuthenticated)
	}
	return &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: groups, Extra: u.Extra}
}

// validateUsers judges Options.Tokens. The faults never have a token in them: they go by the names of the users.
func validateUsers(administrator string, tokens map[string]User) field.ErrorList {
	var faults field.ErrorList
	names := map[string]bool{}
	for _, token := range slices.Sorted(maps.Keys(tokens)) {
		named := tokens[token]
		details := named.faults()
		switch {
		case token == "":
			details = append(details, "the token is empty")
		case hasSpace(token):
			details = append(details, "the token must not contain white space")
		case token == administrator:
			details = append(details, "the token is that of Options.Token, the administrator's")
		}
		if names[named.Name] && named.Name != "" {
			details = append(details, "there are two tokens for that name")
		}
		names[named.Name] = true
		for _, detail := range details {
			faults = append(faults, field.Invalid(check.Option("Tokens"), named.Name, detail))
		}
	}
	return faults
}

// faults says what is wrong with a user.
func (u User) faults() []string {
	var details []string
	switch {
	case strings.TrimSpace(u.Name) == "":
		details = append(details, "a user has no name")
	case hasSpace(u.Name):
		details = append(details, "the name of a user must not contain white space")
	case u.Name == administratorName:
		details = append(details, "this is the administrator, whose token Options.Token is")
	case u.Name == user.Anonymous:
		details = append(details, "this is the name of those who have no token")
	}
	if slices.Contains(u.Groups, "") {
		details = append(details, "a group has no name")
	}
	if slices.Contains(u.Groups, user.AllUnauthenticated) {
		details = append(details, "the group "+user.AllUnauthenticated+" is of those who have no token")
	}
	return details
}

func hasSpace(text string) bool { return strings.ContainsFunc(text, unicode.IsSpace) }

// tokenOf returns the token of a user of Options.Tokens.
func (s *Server) tokenOf(name string) (string, error) {
	if name == administratorName {
		return s.token, nil
	}
	for token, named := range s.users {
		if named.Name == name {
			return token, nil
		}
	}
	return "", fmt.Errorf("no token of Options.Tokens is for the user %q", name)
}

// ConfigFor returns a configuration for clients in this process with the token of a user of Options.Tokens, by the name
// of the user. Other than with impersonation (rest.Config.Impersonate), the requests are the user's own in every
// respect. It is [Server.Config] otherwise, and an error if no token is for that name.
func (s *Server) ConfigFor(name string) (*rest.Config, error) {
	token, err := s.tokenOf(name)
	if err != nil {
		return nil, fmt.Errorf("making a client configuration: %w", err)
	}
	config := s.Config()
	config.BearerToken = token
	return config, nil
}

// ServiceAccountConfig returns a configuration for clients in this process that act as a ServiceAccount, which has to
// be there, with a token that the server issues for it (serviceaccounts/token). The token is good until the
// ServiceAccount is deleted; for one that expires, create a TokenRequest.
func (s *Server) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := corev1client.NewForConfig(s.Config())
	if err != nil {
		return nil, fmt.Errorf("making a configuration for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	request, err := client.ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(serviceAccountTokenSeconds))},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("making a configuration for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config := s.Config()
	config.BearerToken = request.Status.Token
	return config, nil
}
