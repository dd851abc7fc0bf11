package rbac

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestAllowsResources(t *testing.T) {
	list := func(items ...string) []string { return items }
	request := func(change func(*authorizer.AttributesRecord)) authorizer.AttributesRecord {
		r := authorizer.AttributesRecord{Verb: "get", APIGroup: "apps", Resource: "deployments", Name: "web", ResourceRequest: true}
		if change != nil {
			change(&r)
		}
		return r
	}
	scale := func(r *authorizer.AttributesRecord) { r.Subresource = "scale" }
	for name, tc := range map[string]struct {
		rule   rbacv1.PolicyRule
		change func(*authorizer.AttributesRecord)
		want   bool
	}{
		"the same":                       {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments")}, want: true},
		"one of several":                 {rule: rbacv1.PolicyRule{Verbs: list("list", "get"), APIGroups: list("", "apps"), Resources: list("pods", "deployments")}, want: true},
		"everything":                     {rule: rbacv1.PolicyRule{Verbs: list("*"), APIGroups: list("*"), Resources: list("*")}, want: true},
		"another verb":                   {rule: rbacv1.PolicyRule{Verbs: list("list"), APIGroups: list("apps"), Resources: list("deployments")}},
		"another group":                  {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list(""), Resources: list("deployments")}},
		"another resource":               {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("replicasets")}},
		"the name":                       {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments"), ResourceNames: list("web")}, want: true},
		"another name":                   {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments"), ResourceNames: list("db")}},
		"a star is no name":              {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments"), ResourceNames: list("*")}},
		"a resource has no subresources": {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments")}, change: scale},
		"the subresource":                {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments/scale")}, change: scale, want: true},
		"that of all resources":          {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("*/scale")}, change: scale, want: true},
		"all subresources of one is no pattern": {
			rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("deployments/*")}, change: scale,
		},
		"everything has subresources":       {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("*")}, change: scale, want: true},
		"a subresource is not its own":      {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("*/scale")}},
		"another subresource of all":        {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("*/status")}, change: scale},
		"a subresource of another":          {rule: rbacv1.PolicyRule{Verbs: list("get"), APIGroups: list("apps"), Resources: list("replicasets/scale")}, change: scale},
		"paths are not for resources":       {rule: rbacv1.PolicyRule{Verbs: list("*"), NonResourceURLs: list("*")}},
		"a rule without groups is for none": {rule: rbacv1.PolicyRule{Verbs: list("*"), Resources: list("*")}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Allows(&tc.rule, request(tc.change)))
		})
	}
}

func TestAllowsPaths(t *testing.T) {
	for name, tc := range map[string]struct {
		pattern, path string
		want          bool
	}{
		"the same":              {"/healthz", "/healthz", true},
		"another":               {"/healthz", "/livez", false},
		"everything":            {"*", "/anything", true},
		"what begins with it":   {"/healthz/*", "/healthz/ping", true},
		"not what it begins":    {"/healthz/*", "/healthz", false},
		"in the middle of name": {"/heal*", "/healthz/ping", true},
		"no star within":        {"/*/ping", "/healthz/ping", false},
		"without a star":        {"/healthz", "/healthz/ping", false},
	} {
		t.Run(name, func(t *testing.T) {
			rule := rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{tc.pattern}}
			assert.Equal(t, tc.want, Allows(&rule, authorizer.AttributesRecord{Verb: "get", Path: tc.path}))
			assert.False(t, Allows(&rule, authorizer.AttributesRecord{Verb: "post", Path: tc.path}))
		})
	}
}
