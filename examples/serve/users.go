package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/musterkube/muster/pkg/emulator"
)

// The values of --authorization-mode.
const (
	modeAlwaysAllow = "AlwaysAllow"
	modeRBAC        = "RBAC"
)

// letIn reads --user-token, NAME[,GROUP…]=TOKEN each, and --authorization-mode.
func (o *options) letIn(users []string, mode string) error {
	if mode != modeAlwaysAllow && mode != modeRBAC {
		return fmt.Errorf("--authorization-mode %q: want %s or %s", mode, modeAlwaysAllow, modeRBAC)
	}
	o.rbac = mode == modeRBAC
	for i, text := range users {
		who, token, ok := strings.Cut(text, "=")
		if !ok {
			// The text is not repeated: it may be a token.
			return fmt.Errorf("--user-token, number %d: want NAME[,GROUP…]=TOKEN", i+1)
		}
		names := strings.Split(who, ",")
		if err := o.checkUser(names[0], names[1:], token); err != nil {
			return fmt.Errorf("--user-token %q: %w", who+"=…", err)
		}
		if o.users == nil {
			o.users = map[string]emulator.User{}
		}
		o.users[token] = emulator.User{Name: names[0], Groups: names[1:]}
	}
	return nil
}

// administrator is the name of the user whose token is in the kubeconfig.
const administrator = "kubernetes-admin"

// checkUser returns an error for what the server would refuse, in words of the flags and never with a token.
func (o *options) checkUser(name string, groups []string, token string) error {
	switch {
	case name == "":
		return errors.New("there is no name: want NAME[,GROUP…]=TOKEN")
	case hasSpace(name):
		return errors.New("the name has white space in it")
	case name == administrator:
		return errors.New("that is the administrator, whose token --token sets: want another name")
	case name == user.Anonymous:
		return errors.New("that is the name of those who have no token: want another")
	case slices.Contains(groups, ""):
		return errors.New("a group has no name: want NAME[,GROUP…]=TOKEN")
	case slices.Contains(groups, user.AllUnauthenticated):
		return errors.New("the group " + user.AllUnauthenticated + " is of those who have no token")
	case token == "":
		return errors.New("there is no token behind the =: want NAME[,GROUP…]=TOKEN")
	case hasSpace(token):
		return errors.New("the token has white space in it")
	case token == o.token:
		return errors.New("the token is that of --token, the administrator's: want another")
	}
	if other, taken := o.users[token]; taken {
		return fmt.Errorf("%s has the same token: want another", other.Name)
	}
	for _, other := range o.users {
		if other.Name == name {
			return errors.New("the name has another token already: want one flag for each name")
		}
	}
	return nil
}

func hasSpace(text string) bool { return strings.ContainsFunc(text, unicode.IsSpace) }
