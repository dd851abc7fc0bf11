package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// PlainDeleter serves deletes with ignoreStoreReadErrorWithClusterBreakingPotential, an option that Kubernetes 1.36 knows
// and passes over: its feature gate, AllowUnsafeMalformedObjectDeletion, is off. They are deletes as any other.
type PlainDeleter struct {
	rest.GracefulDeleter
}

// Delete implements rest.GracefulDeleter.
func (d PlainDeleter) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if options != nil {
		options = options.DeepCopy()
		options.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	}
	return d.GracefulDeleter.Delete(ctx, name, validate, options)
}
