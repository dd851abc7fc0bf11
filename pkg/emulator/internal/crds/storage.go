package crds

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/patches"
)

const resource = "customresourcedefinitions"

// Version is the version in which definitions are served.
var Version = apiextensionsv1.SchemeGroupVersion

// Resource is that of definitions.
var Resource = Version.WithResource(resource)

// Scheme returns the scheme that definitions are served with. It is the library's, and shared by the process.
func Scheme() *runtime.Scheme { return apiextensionsserver.Scheme }

// Serializer returns what definitions are read and written with in requests.
func Serializer() runtime.NegotiatedSerializer { return apiextensionsserver.Codecs }

// StorageCodec returns the codec that writes definitions to storage, and the version that it writes. It is that of a
// kube-apiserver: definitions are kept as JSON of v1beta1, the more compact form.
func StorageCodec() (runtime.Codec, runtime.GroupVersioner) {
	beta := apiextensionsv1beta1.SchemeGroupVersion
	return apiextensionsserver.Codecs.LegacyCodec(beta, Version),
		runtime.NewMultiGroupVersioner(beta, schema.GroupKind{Group: beta.Group})
}

// Storages returns the storages of definitions and of their status. After each write they call written.
func Storages(getter generic.RESTOptionsGetter, written func()) (map[string]rest.Storage, error) {
	main, err := customresourcedefinition.NewREST(apiextensionsserver.Scheme, getter)
	if err != nil {
		return nil, fmt.Errorf("making the storage of %s: %w", Resource.GroupResource(), err)
	}
	// The library's table is that of Kubernetes 1.37.
	main.TableConvertor = rest.NewDefaultTableConvertor(Resource.GroupResource())
	return map[string]rest.Storage{
		resource:             definitions{main, written},
		resource + "/status": definitionStatus{customresourcedefinition.NewStatusREST(apiextensionsserver.Scheme, main)},
	}, nil
}

// definitions is the library's storage, which tells of writes.
type definitions struct {
	*customresourcedefinition.REST
	written func()
}

var (
	_ rest.StandardStorage    = definitions{}
	_ rest.ShortNamesProvider = definitions{}
	_ rest.CategoriesProvider = definitions{}
)

// Create implements rest.Creater.
func (d definitions) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := d.REST.Create(ctx, obj, validate, options)
	d.tell(err)
	return created, err
}

// Update implements rest.Updater.
func (d definitions) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, create bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, made, err := d.REST.Update(ctx, name, patches.Follow(ctx, info), createValidation, updateValidation, create, options)
	d.tell(err)
	return updated, made, err
}

// Delete implements rest.GracefulDeleter.
func (d definitions) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	deleted, now, err := d.REST.Delete(ctx, name, validate, options)
	d.tell(err)
	return deleted, now, err
}

func (d definitions) tell(err error) {
	if err == nil {
		d.written()
	}
}

// definitionStatus is the library's storage of the status of definitions.
type definitionStatus struct {
	*customresourcedefinition.StatusREST
}

var _ rest.Patcher = definitionStatus{}

// Update implements rest.Updater.
func (s definitionStatus) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, create bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.StatusREST.Update(ctx, name, patches.Follow(ctx, info), createValidation, updateValidation, create, options)
}
