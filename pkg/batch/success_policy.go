package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

// SuccessMatch says whether a success policy (KEP-3998) lets an Indexed Job end.
type SuccessMatch struct {
	// Rule is the index of the rule that matched, -1 when none did.
	Rule int
	// Message is the message of the condition SuccessCriteriaMet that the match leads to, "" when no rule matched.
	Message string
}

// Matched reports whether a rule matched.
func (m SuccessMatch) Matched() bool { return m.Rule >= 0 }

// MatchSuccessPolicy tries the rules of policy in their order on the indexes that have succeeded, in a Job of that
// many completions. A rule with succeededIndexes matches when all of them have succeeded or, with a succeededCount, at
// least that many of them; a rule with a count alone matches when that many indexes have succeeded. Nothing matches
// before the first index has succeeded. Listed indexes from completions on are passed over, and a rule whose list
// holds no index never matches.
func MatchSuccessPolicy(policy *batchv1.SuccessPolicy, completions int, succeeded IndexSet) SuccessMatch {
	if policy == nil || succeeded.Len() == 0 {
		return SuccessMatch{Rule: -1}
	}
	for i := range policy.Rules {
		if matchSuccessRule(&policy.Rules[i], completions, succeeded) {
			return SuccessMatch{Rule: i, Message: fmt.Sprintf("Matched rules at index %d", i)}
		}
	}
	return SuccessMatch{Rule: -1}
}

func matchSuccessRule(rule *batchv1.SuccessPolicyRule, completions int, succeeded IndexSet) bool {
	if rule.SucceededIndexes == nil {
		return rule.SucceededCount != nil && succeeded.Len() >= int(*rule.SucceededCount)
	}
	listed := ReadIndexSet(*rule.SucceededIndexes, completions)
	if listed.Len() == 0 {
		return false
	}
	common := succeeded.CountIn(listed)
	return common == listed.Len() || (rule.SucceededCount != nil && common >= int(*rule.SucceededCount))
}
