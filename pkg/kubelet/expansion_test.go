package kubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpand(t *testing.T) {
	variables := map[string]string{"A": "a", "B": "$(A)", "EMPTY": "", "A B": "ab"}
	for name, tc := range map[string]struct{ text, want string }{
		"nothing to expand":                     {"plain", "plain"},
		"nothing at all":                        {"", ""},
		"a variable":                            {"$(A)", "a"},
		"several":                               {"<$(A)$(A)-$(EMPTY)>", "<aa->"},
		"a value is not expanded again":         {"$(B)", "$(A)"},
		"a variable that there is not":          {"x$(NONE)y", "x$(NONE)y"},
		"an escaped reference":                  {"$$(A)", "$(A)"},
		"an escaped dollar before a reference":  {"$$$(A)", "$a"},
		"two escaped dollars":                   {"$$$$", "$$"},
		"an end that is missing":                {"$(A", "$(A"},
		"an end that is missing, later another": {"$(A $(B)", "$(A $(B)"},
		"a shell's variable":                    {"$A ${A}", "$A ${A}"},
		"a dollar at the end":                   {"a$", "a$"},
		"a name with a space":                   {"$(A B)", "ab"},
		"no name":                               {"$()", "$()"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, expand(tc.text, variables))
		})
	}
}
