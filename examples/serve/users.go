package main

import (
	"fmt"
	"strings"

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
		if other, taken := o.users[token]; taken {
			return fmt.Errorf("--user-token: %s and %s have the same token", other.Name, names[0])
		}
		if o.users == nil {
			o.users = map[string]emulator.User{}
		}
		o.users[token] = emulator.User{Name: names[0], Groups: names[1:]}
	}
	return nil
}
