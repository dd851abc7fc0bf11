package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// subjectOf returns the first of the subjects of a binding that who is, nil if there is none. ServiceAccounts that do
// not say their namespace are those of the binding's.
func subjectOf(subjects []rbacv1.Subject, who user.Info, namespace string) *rbacv1.Subject {
	for i := range subjects {
		if is(&subjects[i], who, namespace) {
			return &subjects[i]
		}
	}
	return nil
}

func is(subject *rbacv1.Subject, who user.Info, namespace string) bool {
	switch subject.Kind {
	case rbacv1.UserKind:
		return subject.Name == who.GetName()
	case rbacv1.GroupKind:
		return slices.Contains(who.GetGroups(), subject.Name)
	case rbacv1.ServiceAccountKind:
		if subject.Namespace != "" {
			namespace = subject.Namespace
		}
		return namespace != "" && serviceaccount.MatchesUsername(namespace, subject.Name, who.GetName())
	}
	return false
}

// describe names a subject as Kubernetes does: ServiceAccounts by their name and then their namespace.
func describe(subject *rbacv1.Subject, namespace string) string {
	name := subject.Name
	if subject.Kind == rbacv1.ServiceAccountKind {
		if subject.Namespace != "" {
			namespace = subject.Namespace
		}
		name += "/" + namespace
	}
	return subject.Kind + " " + quote(name)
}
