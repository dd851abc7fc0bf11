package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aggregating returns a role that has a label and aggregates what has another.
func aggregating(name, label, of string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	role := labelled(name, label, rules...)
	role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{of: "true"}}}}
	return role
}

func labelled(name, label string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if label != "" {
		role.Labels = map[string]string{label: "true"}
	}
	return role
}

func TestAggregate(t *testing.T) {
	pods, nodes, maps := makeRule("pods"), makeRule("nodes"), makeRule("configmaps")
	type rules = map[string][]rbacv1.PolicyRule
	for name, tc := range map[string]struct {
		roles []*rbacv1.ClusterRole
		want  rules
	}{
		"nothing to do":                 {roles: []*rbacv1.ClusterRole{labelled("a", "x", pods)}, want: rules{}},
		"those with the label":          {roles: []*rbacv1.ClusterRole{aggregating("all", "", "x"), labelled("b", "x", nodes), labelled("a", "x", pods), labelled("c", "y", maps)}, want: rules{"all": {pods, nodes}}},
		"each rule once":                {roles: []*rbacv1.ClusterRole{aggregating("all", "", "x"), labelled("a", "x", pods), labelled("b", "x", nodes, pods)}, want: rules{"all": {pods, nodes}}},
		"what is in line stays":         {roles: []*rbacv1.ClusterRole{aggregating("all", "", "x", pods), labelled("a", "x", pods)}, want: rules{}},
		"what was written by hand goes": {roles: []*rbacv1.ClusterRole{aggregating("all", "", "x", maps), labelled("a", "x", pods)}, want: rules{"all": {pods}}},
		"when none is left":             {roles: []*rbacv1.ClusterRole{aggregating("all", "", "x", maps)}, want: rules{"all": nil}},
		"over several levels":           {roles: []*rbacv1.ClusterRole{aggregating("admin", "", "to-admin"), aggregating("edit", "to-admin", "to-edit"), labelled("z", "to-edit", pods)}, want: rules{"admin": {pods}, "edit": {pods}}},
		"not itself":                    {roles: []*rbacv1.ClusterRole{aggregating("all", "x", "x", pods)}, want: rules{"all": nil}},
		"in a circle":                   {roles: []*rbacv1.ClusterRole{aggregating("a", "x", "y"), aggregating("b", "y", "x"), labelled("c", "x", pods)}, want: rules{"a": {pods}, "b": {pods}}},
		"a selector that is none": {roles: []*rbacv1.ClusterRole{{
			ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Rules: []rbacv1.PolicyRule{maps},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a b": "c"}}}},
		}}, want: rules{}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(tc.want, Aggregate(tc.roles)), "(-want +got)")
		})
	}
}
