package scheme

import (
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// registerOldEvictions lets older clients evict pods by policy/v1beta1. Nothing else of that version is known.
func registerOldEvictions(s *runtime.Scheme) error {
	s.AddKnownTypes(policyv1beta1.SchemeGroupVersion, &policyv1beta1.Eviction{})
	return s.AddConversionFunc(&policyv1beta1.Eviction{}, &policyv1.Eviction{}, func(a, b any, _ conversion.Scope) error {
		in, out := a.(*policyv1beta1.Eviction), b.(*policyv1.Eviction)
		*out = policyv1.Eviction{ObjectMeta: in.ObjectMeta, DeleteOptions: in.DeleteOptions}
		return nil
	})
}
