package registrytest

import (
	"testing"

	"github.com/stretchr/testify/require"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Client calls the storages of one resource and its subresources as the request handlers do, without defaults or
// admission.
type Client struct {
	tb        testing.TB
	storages  map[string]rest.Storage
	resource  schema.GroupVersionResource
	namespace string
}

// Client returns a client for a resource in a namespace; empty is for those outside any.
func (s Storages) Client(tb testing.TB, resource schema.GroupVersionResource, namespace string) Client {
	tb.Helper()
	require.Contains(tb, s, resource.GroupVersion())
	require.Contains(tb, s[resource.GroupVersion()], resource.Resource)
	return Client{tb, s[resource.GroupVersion()], resource, namespace}
}

// Create creates obj.
func (c Client) Create(obj runtime.Object) (runtime.Object, error) {
	c.tb.Helper()
	return c.storages[c.resource.Resource].(rest.Creater).Create(
		Context(c.tb, c.resource, c.namespace), obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
}

// Post creates obj, a Binding say, at a subresource of the named object.
func (c Client) Post(name, subresource string, obj runtime.Object) (runtime.Object, error) {
	c.tb.Helper()
	return c.storages[c.resource.Resource+"/"+subresource].(rest.NamedCreater).Create(
		Context(c.tb, c.resource, c.namespace), name, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
}

// Get returns the named object.
func (c Client) Get(name string) (runtime.Object, error) {
	c.tb.Helper()
	return c.storages[c.resource.Resource].(rest.Getter).Get(Context(c.tb, c.resource, c.namespace), name, &metav1.GetOptions{})
}

// Update writes the named object as change leaves it, to the resource or, if given, to a subresource.
func (c Client) Update(name, subresource string, change func(obj runtime.Object)) (runtime.Object, error) {
	c.tb.Helper()
	path := c.resource.Resource
	if subresource != "" {
		path += "/" + subresource
	}
	stored, err := c.Get(name)
	if err != nil {
		return nil, err
	}
	change(stored)
	updated, _, err := c.storages[path].(rest.Updater).Update(Context(c.tb, c.resource, c.namespace), name, rest.DefaultUpdatedObjectInfo(stored),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return updated, err
}

// Delete deletes the named object and reports whether it is gone.
func (c Client) Delete(name string, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	c.tb.Helper()
	return c.storages[c.resource.Resource].(rest.GracefulDeleter).Delete(
		Context(c.tb, c.resource, c.namespace), name, rest.ValidateAllObjectFunc, options)
}

// List returns the objects whose fields match.
func (c Client) List(selector fields.Selector) (runtime.Object, error) {
	c.tb.Helper()
	return c.storages[c.resource.Resource].(rest.Lister).List(
		Context(c.tb, c.resource, c.namespace), &metainternalversion.ListOptions{FieldSelector: selector})
}

// Table prints an object of the resource.
func (c Client) Table(obj runtime.Object) *metav1.Table {
	c.tb.Helper()
	table, err := c.storages[c.resource.Resource].(rest.TableConvertor).ConvertToTable(c.tb.Context(), obj, nil)
	require.NoError(c.tb, err)
	return table
}
