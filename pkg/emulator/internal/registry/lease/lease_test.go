package lease_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

var resource = coordinationv1.SchemeGroupVersion.WithResource("leases")

func makeLease() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "default"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me")}}
}

func TestPutCreates(t *testing.T) {
	storages := registrytest.New(t, features.Gates{})
	updater := storages[resource.GroupVersion()]["leases"].(rest.Updater)
	_, created, err := updater.Update(registrytest.Context(t, resource, "default"), "l", rest.DefaultUpdatedObjectInfo(makeLease()),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.True(t, created)

	client := storages.Client(t, resource, "default")
	_, err = client.Update("l", "", func(obj runtime.Object) { obj.(*coordinationv1.Lease).ResourceVersion = "" })
	assert.True(t, apierrors.IsInvalid(err), "a lease is not taken over blindly: %v", err)
	assert.Equal(t, []any{"l", "me", "<unknown>"}, client.Table(makeLease()).Rows[0].Cells)
}

func TestValidation(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, resource, "default")
	lease := makeLease()
	lease.Spec.LeaseDurationSeconds, lease.Spec.LeaseTransitions = new(int32(0)), new(int32(-1))
	_, err := client.Create(lease)
	assert.ErrorContains(t, err, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")
	assert.ErrorContains(t, err, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0")

	lease = makeLease()
	lease.Spec.Strategy, lease.Spec.PreferredHolder = new(coordinationv1.OldestEmulationVersion), new("you")
	obj, err := client.Create(lease)
	require.NoError(t, err)
	assert.Nil(t, obj.(*coordinationv1.Lease).Spec.Strategy, "coordinated leader election is off")
	assert.Nil(t, obj.(*coordinationv1.Lease).Spec.PreferredHolder)
}
