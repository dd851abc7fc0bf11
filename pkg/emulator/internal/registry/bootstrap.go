package registry

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/namespace"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/plain"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/priorityclass"
)

// manager is who owns the fields of what is bootstrapped.
const manager = "kube-apiserver"

// serviceFields are those that a kube-apiserver sets of the service of the API.
const serviceFields = `{"f:metadata":{"f:labels":{".":{},"f:component":{},"f:provider":{}}},"f:spec":{"f:clusterIP":{},` +
	`"f:internalTrafficPolicy":{},"f:ipFamilyPolicy":{},"f:ports":{".":{},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},` +
	`"f:name":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},"f:sessionAffinity":{},"f:type":{}}}`

// Bootstrap writes what every cluster has from the start: the namespaces default, kube-system, kube-public and
// kube-node-lease, the priority classes of the system, and the service of the API. What is there already stays as it is, so that Bootstrap may
// meet a storage that another server has filled.
func Bootstrap(ctx context.Context, storages map[schema.GroupVersion]map[string]rest.Storage) error {
	now := metav1.NewTime(clock.RealClock{}.Now())
	ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
	for _, name := range namespace.SystemNames() {
		obj := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:          name,
			Labels:        map[string]string{corev1.LabelMetadataName: name},
			ManagedFields: managed(now, "v1", `{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}`),
		}}
		if err := createAbsent(ctx, storages[corev1.SchemeGroupVersion]["namespaces"], obj); err != nil {
			return fmt.Errorf("bootstrapping namespace %s: %w", name, err)
		}
	}
	for _, class := range priorityclass.SystemClasses() {
		class.ManagedFields = managed(now, "scheduling.k8s.io/v1", `{"f:description":{},"f:preemptionPolicy":{},"f:value":{}}`)
		if err := createAbsent(ctx, storages[schedulingv1.SchemeGroupVersion]["priorityclasses"], class); err != nil {
			return fmt.Errorf("bootstrapping priority class %s: %w", class.Name, err)
		}
	}
	service := plain.APIService()
	service.ManagedFields = managed(now, "v1", serviceFields)
	ctx = genericapirequest.WithNamespace(ctx, service.Namespace)
	if err := createAbsent(ctx, storages[corev1.SchemeGroupVersion]["services"], service); err != nil {
		return fmt.Errorf("bootstrapping service %s/%s: %w", service.Namespace, service.Name, err)
	}
	return nil
}

// createAbsent creates obj unless there is one of its name.
func createAbsent(ctx context.Context, storage rest.Storage, obj runtime.Object) error {
	creater, ok := storage.(rest.Creater)
	if !ok {
		return fmt.Errorf("%T cannot create", storage)
	}
	_, err := creater.Create(ctx, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func managed(now metav1.Time, version, fields string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, Time: &now,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}}
}
