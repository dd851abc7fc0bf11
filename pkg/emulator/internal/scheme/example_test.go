package scheme_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// A Job is read as a request with fieldValidation=Strict would have it read: spec.scheduling came with Kubernetes 1.37.
func ExampleNew() {
	s := scheme.New()
	info, _ := runtime.SerializerInfoForMediaType(s.Serializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
	decoder := s.Serializer.DecoderToVersion(info.StrictSerializer, runtime.InternalGroupVersioner)
	obj, _, err := decoder.Decode([]byte(`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completions": 3, "scheduling": {}}}`), nil, nil)
	fmt.Println(err)
	job := obj.(*batchv1.Job)
	fmt.Println(*job.Spec.Completions, *job.Spec.Parallelism, job.Spec.Scheduling == nil)
	// Output:
	// strict decoding error: unknown field "spec.scheduling"
	// 3 1 true
}
