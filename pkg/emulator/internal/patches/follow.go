package patches

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/registry/rest"
	kjson "sigs.k8s.io/json"
)

// Follow returns info with the answers of Kubernetes 1.36, if the request of ctx came through [Handler] and is a patch.
func Follow(ctx context.Context, info rest.UpdatedObjectInfo) rest.UpdatedObjectInfo {
	if p := patchFrom(ctx); p != nil {
		return followed{info, p}
	}
	return info
}

type followed struct {
	rest.UpdatedObjectInfo
	patch *patch
}

// UpdatedObject implements rest.UpdatedObjectInfo.
func (f followed) UpdatedObject(ctx context.Context, stored runtime.Object) (runtime.Object, error) {
	p := f.patch
	apply := p.kind == types.ApplyYAMLPatchType
	switch {
	case p.broken && (apply || exists(stored)):
		return nil, apierrors.NewBadRequest(p.fault())
	case p.kind == types.StrategicMergePatchType && !p.broken && exists(stored):
		if err := p.checkFields(ctx, stored); err != nil {
			return nil, err
		}
	}
	obj, err := f.UpdatedObjectInfo.UpdatedObject(ctx, stored)
	if err != nil && apply {
		err = restate(err)
	}
	return obj, err
}

// exists tells whether an object is stored. Where there is none, the library has an empty one to patch, and for all
// kinds of patches but one answers that it was not found.
func exists(stored runtime.Object) bool {
	accessor, err := meta.Accessor(stored)
	return err == nil && accessor.GetUID() != ""
}

// fault says what is wrong with a broken body.
func (p *patch) fault() string {
	var err error
	checked := p.validation != metav1.FieldValidationIgnore
	switch p.kind {
	case types.ApplyYAMLPatchType:
		var content map[string]any
		err = yaml.Unmarshal(p.body, &content)
		if err != nil {
			return applyPrefix + err.Error()
		}
	case types.StrategicMergePatchType:
		var content map[string]any
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.body, &content)
	case types.MergePatchType:
		if !checked {
			return "Invalid JSON Patch"
		}
		var content map[string]any
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.body, &content)
	default:
		var content []any
		err = json.Unmarshal(p.body, &content)
	}
	if err == nil {
		return "invalid patch"
	}
	if checked && p.kind != types.StrategicMergePatchType {
		return "error decoding patch: " + err.Error()
	}
	return err.Error()
}

const applyPrefix = "error decoding YAML: "

// restate puts an error about the body of an apply patch as 1.36 does, whose bodies can only be YAML.
func restate(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Reason != metav1.StatusReasonBadRequest {
		return err
	}
	for _, begin := range []string{"error decoding ", "error strict decoding "} {
		if rest, found := strings.CutPrefix(status.ErrStatus.Message, begin+"patch: "); found {
			return apierrors.NewBadRequest(begin + "YAML: " + rest)
		}
	}
	return err
}
