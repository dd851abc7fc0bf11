//go:build !race

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
	"k8s.io/kubernetes/pkg/registry/scheduling/workload"

	"github.com/musterkube/muster/hack/differential/wire"
)

// served is how an API server treats a kind.
type served struct {
	version  schema.GroupVersion
	resource string
	create   rest.RESTCreateStrategy
	update   rest.RESTUpdateStrategy
	status   rest.RESTUpdateStrategy
}

func kinds() map[string]served {
	groups := podgroup.NewStrategy()
	alpha := schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}
	return map[string]served{
		"Workload": {version: alpha, resource: "workloads", create: workload.Strategy, update: workload.Strategy},
		"PodGroup": {version: alpha, resource: "podgroups", create: groups, update: groups, status: podgroup.NewStatusStrategy(groups)},
		"Job": {version: schema.GroupVersion{Group: "batch", Version: "v1"}, resource: "jobs",
			create: job.Strategy, update: job.Strategy, status: job.StatusStrategy},
		"Pod": {version: schema.GroupVersion{Version: "v1"}, resource: "pods",
			create: pod.Strategy, update: pod.Strategy, status: pod.StatusStrategy},
	}
}

// gates are those of gang scheduling.
var gates = []string{
	"GenericWorkload", "GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling",
	"DRAWorkloadResourceClaims", "WorkloadWithJob",
}

func setGates(on []string) error {
	wanted := map[string]bool{}
	for _, gate := range gates {
		wanted[gate] = false
	}
	for _, gate := range on {
		wanted[gate] = true
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(wanted)
}

func judge(question *wire.Question) (*wire.Answer, error) {
	kind, found := kinds()[question.Kind]
	if !found {
		return nil, fmt.Errorf("kind %q: not known", question.Kind)
	}
	if err := setGates(question.Gates); err != nil {
		return nil, fmt.Errorf("setting feature gates: %w", err)
	}
	answer := &wire.Answer{}
	obj := decode(answer, question.Object, kind.version.WithKind(question.Kind))
	var old runtime.Object
	if len(question.Old) > 0 {
		old = decode(answer, question.Old, kind.version.WithKind(question.Kind))
	}
	if answer.Undecodable != "" {
		return answer, nil
	}
	ctx := kind.context(question.Operation)
	switch question.Operation {
	case "create":
		kind.onCreate(ctx, answer, obj)
	case "update":
		onUpdate(ctx, answer, kind.update, obj, old)
	case "status":
		onUpdate(ctx, answer, kind.status, obj, old)
	default:
		return nil, fmt.Errorf("operation %q: not known", question.Operation)
	}
	var err error
	if answer.Object, err = encode(obj, kind.version); err != nil {
		return nil, fmt.Errorf("encoding a %s: %w", question.Kind, err)
	}
	return answer, nil
}

// context is what the handlers of a request put into its context.
func (s served) context(operation string) context.Context {
	info := &genericapirequest.RequestInfo{
		IsResourceRequest: true, APIGroup: s.version.Group, APIVersion: s.version.Version, Resource: s.resource, Namespace: "ns",
	}
	if operation == "status" {
		info.Subresource = "status"
	}
	return genericapirequest.WithNamespace(genericapirequest.WithRequestInfo(context.Background(), info), "ns")
}

// decode reads an object, sets its defaults, and converts it to the type that Kubernetes works on. What cannot be read is
// noted in the answer.
func decode(answer *wire.Answer, text json.RawMessage, kind schema.GroupVersionKind) runtime.Object {
	codec := legacyscheme.Codecs.DecoderToVersion(legacyscheme.Codecs.UniversalDeserializer(), runtime.InternalGroupVersioner)
	obj, _, err := codec.Decode(text, &kind, nil)
	if err != nil {
		answer.Undecodable = err.Error()
	}
	return obj
}

func encode(obj runtime.Object, version schema.GroupVersion) (json.RawMessage, error) {
	versioned, err := legacyscheme.Scheme.ConvertToVersion(obj, version)
	if err != nil {
		return nil, err
	}
	versioned.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return json.Marshal(versioned)
}

// onCreate does what rest.BeforeCreate does once name and identity are given, but returns errors as they are.
func (s served) onCreate(ctx context.Context, answer *wire.Answer, obj runtime.Object) {
	defer report(answer)
	s.create.PrepareForCreate(warning.WithWarningRecorder(ctx, (*recorder)(answer)), obj)
	answer.Errors = errorsOf(s.create.Validate(ctx, obj))
	answer.Warnings = append(answer.Warnings, s.create.WarningsOnCreate(ctx, obj)...)
}

// onUpdate does what rest.BeforeUpdate does, but returns errors as they are, without those that come for every kind.
func onUpdate(ctx context.Context, answer *wire.Answer, strategy rest.RESTUpdateStrategy, obj, old runtime.Object) {
	defer report(answer)
	changed, stored := accessor(obj), accessor(old)
	changed.SetGeneration(stored.GetGeneration())
	strategy.PrepareForUpdate(ctx, obj, old)
	if changed.GetUID() == "" {
		changed.SetUID(stored.GetUID())
	}
	if at := stored.GetCreationTimestamp(); !at.IsZero() {
		changed.SetCreationTimestamp(at)
	}
	if at := stored.GetDeletionTimestamp(); !at.IsZero() {
		changed.SetDeletionTimestamp(at)
	}
	if period := stored.GetDeletionGracePeriodSeconds(); period != nil && changed.GetDeletionGracePeriodSeconds() == nil {
		changed.SetDeletionGracePeriodSeconds(period)
	}
	answer.Errors = errorsOf(strategy.ValidateUpdate(ctx, obj, old))
	answer.Warnings = strategy.WarningsOnUpdate(ctx, obj, old)
}

// recorder takes the warnings that are given on the way.
type recorder wire.Answer

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.Warnings = append(r.Warnings, text) }

// report turns a panic into an answer.
func report(answer *wire.Answer) {
	if fault := recover(); fault != nil {
		answer.Panic = fmt.Sprint(fault)
	}
}

func accessor(obj runtime.Object) metav1.Object {
	object, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // every kind here has metadata
	}
	return object
}

func errorsOf(list field.ErrorList) []wire.Error {
	var found []wire.Error
	for _, err := range list {
		found = append(found, wire.Error{Type: string(err.Type), Field: err.Field, Detail: err.ErrorBody()})
	}
	return found
}
