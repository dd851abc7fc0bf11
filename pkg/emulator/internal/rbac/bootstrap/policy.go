package bootstrap

import (
	_ "embed"
	"encoding/json"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac"
)

// policyJSON lists the objects, less what is the same for all.
//
//go:embed policy.json
var policyJSON []byte

const (
	// label and annotation mark the objects of the default policy.
	label      = "kubernetes.io/bootstrapping"
	labelValue = "rbac-defaults"
)

// Policy returns the objects, for the caller to change. Aggregated ClusterRoles have the rules that they aggregate.
func Policy() (rbac.Objects, error) {
	var objects rbac.Objects
	if err := json.Unmarshal(policyJSON, &objects); err != nil {
		return rbac.Objects{}, fmt.Errorf("reading the default RBAC policy: %w", err)
	}
	aggregated := rbac.Aggregate(objects.ClusterRoles)
	for _, role := range objects.ClusterRoles {
		if rules, ok := aggregated[role.Name]; ok {
			role.Rules = rules
		}
		mark(&role.ObjectMeta)
	}
	for _, role := range objects.Roles {
		mark(&role.ObjectMeta)
	}
	for _, binding := range objects.ClusterRoleBindings {
		mark(&binding.ObjectMeta)
	}
	for _, binding := range objects.RoleBindings {
		mark(&binding.ObjectMeta)
	}
	return objects, nil
}

// mark adds the label and the annotation that all of the objects have.
func mark(meta *metav1.ObjectMeta) {
	metav1.SetMetaDataLabel(meta, label, labelValue)
	metav1.SetMetaDataAnnotation(meta, rbacv1.AutoUpdateAnnotationKey, "true")
}
