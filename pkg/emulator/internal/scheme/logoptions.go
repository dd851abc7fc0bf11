package scheme

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// registerLogOptions registers how the query of pods/log is read.
func registerLogOptions(s *runtime.Scheme) error {
	return s.AddConversionFunc(&url.Values{}, &corev1.PodLogOptions{}, func(a, b any, scope conversion.Scope) error {
		values, into := a.(*url.Values), b.(*corev1.PodLogOptions)
		*into = corev1.PodLogOptions{}
		for name, read := range map[string]func(*[]string) error{
			"container":  func(v *[]string) error { return runtime.Convert_Slice_string_To_string(v, &into.Container, scope) },
			"follow":     func(v *[]string) error { return runtime.Convert_Slice_string_To_bool(v, &into.Follow, scope) },
			"previous":   func(v *[]string) error { return runtime.Convert_Slice_string_To_bool(v, &into.Previous, scope) },
			"timestamps": func(v *[]string) error { return runtime.Convert_Slice_string_To_bool(v, &into.Timestamps, scope) },
			"sinceSeconds": func(v *[]string) error {
				return runtime.Convert_Slice_string_To_Pointer_int64(v, &into.SinceSeconds, scope)
			},
			"sinceTime": func(v *[]string) error {
				return metav1.Convert_Slice_string_To_Pointer_v1_Time(v, &into.SinceTime, scope)
			},
			"tailLines": func(v *[]string) error {
				return runtime.Convert_Slice_string_To_Pointer_int64(v, &into.TailLines, scope)
			},
			"limitBytes": func(v *[]string) error {
				return runtime.Convert_Slice_string_To_Pointer_int64(v, &into.LimitBytes, scope)
			},
			"insecureSkipTLSVerifyBackend": func(v *[]string) error {
				return runtime.Convert_Slice_string_To_bool(v, &into.InsecureSkipTLSVerifyBackend, scope)
			},
			"stream": func(v *[]string) error {
				into.Stream = &(*v)[0]
				return nil
			},
		} {
			given := (*values)[name]
			if len(given) == 0 {
				continue
			}
			if err := read(&given); err != nil {
				return err // worded as a kube-apiserver does
			}
		}
		return nil
	})
}
