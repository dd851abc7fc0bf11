package emulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
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

// checkUsers checks Options.Tokens. The errors never have a token in them.
func checkUsers(administrator string, tokens map[string]User) error {
	names := map[string]bool{administratorName: true}
	for _, token := range slices.Sorted(maps.Keys(tokens)) {
		named := tokens[token]
		complain := func(format string, args ...any) error {
			return fmt.Errorf("options: Tokens: the user %q: %w", named.Name, fmt.Errorf(format, args...))
		}
		switch {
		case strings.TrimSpace(named.Name) == "":
			return errors.New("options: Tokens: a user has no name")
		case hasSpace(named.Name):
			return complain("the name must not contain white space")
		case token == "":
			return complain("the token is empty")
		case hasSpace(token):
			return complain("the token must not contain white space")
		case token == administrator:
			return complain("the token is that of Options.Token, the administrator's")
		case named.Name == administratorName:
			return complain("this is the administrator, whose token Options.Token is")
		case names[named.Name]:
			return complain("there are two tokens for that name")
		case named.Name == user.Anonymous:
			return complain("this is the name of those who have no token")
		case slices.Contains(named.Groups, ""):
			return complain("a group has no name")
		case slices.Contains(named.Groups, user.AllUnauthenticated):
			return complain("the group %s is of those who have no token", user.AllUnauthenticated)
		}
		names[named.Name] = true
	}
	return nil
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
