package scheme

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// tokenSeconds is how long a token of a ServiceAccount is valid if the request does not say.
const tokenSeconds = 60 * 60

// registerAccessDefaults registers the defaults of what says who may do what.
func registerAccessDefaults(s *runtime.Scheme) {
	addDefaults(s, func(binding *rbacv1.ClusterRoleBinding) { setBindingDefaults(&binding.RoleRef, binding.Subjects) })
	addDefaults(s, func(binding *rbacv1.RoleBinding) { setBindingDefaults(&binding.RoleRef, binding.Subjects) })
	addDefaults(s, func(request *authenticationv1.TokenRequest) {
		if request.Spec.ExpirationSeconds == nil {
			request.Spec.ExpirationSeconds = new(int64(tokenSeconds))
		}
	})
}

// setBindingDefaults fills in the API groups: roles, users and groups are of RBAC's own, ServiceAccounts of core's.
func setBindingDefaults(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if role.APIGroup == "" {
		role.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		subject := &subjects[i]
		if subject.APIGroup == "" && (subject.Kind == rbacv1.UserKind || subject.Kind == rbacv1.GroupKind) {
			subject.APIGroup = rbacv1.GroupName
		}
	}
}
