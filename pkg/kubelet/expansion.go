package kubelet

import "strings"

// expand replaces references of the form $(NAME) to variables that there are, as Kubernetes does in environment values,
// commands and arguments: "$$" stands for "$", so that $$(NAME) is no reference, and a reference to a variable that
// there is not stays as it is.
func expand(text string, variables map[string]string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 || at == len(text)-1 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at])
		text = text[at:]
		end := strings.IndexByte(text, ')')
		switch {
		case text[1] == '$':
			out.WriteByte('$')
			text = text[2:]
		case text[1] == '(' && end >= 0:
			value, found := variables[text[2:end]]
			if !found {
				value = text[:end+1]
			}
			out.WriteString(value)
			text = text[end+1:]
		default:
			out.WriteString(text[:2])
			text = text[2:]
		}
	}
}
