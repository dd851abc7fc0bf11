package plain

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func resourceClaims() row {
	return &kind[resourcev1.ResourceClaim]{
		version: resourcev1.SchemeGroupVersion, plural: "resourceclaims", singular: "resourceclaim", list: &resourcev1.ResourceClaimList{},
		returnDeleted: true,
		validateCreate: func(c *resourcev1.ResourceClaim) field.ErrorList {
			return validateDeviceClaim(&c.Spec.Devices, field.NewPath("spec", "devices"))
		},
		validateUpdate: func(changed, stored *resourcev1.ResourceClaim) field.ErrorList {
			return immutable(changed.Spec, stored.Spec, field.NewPath("spec"))
		},
		status: &status[resourcev1.ResourceClaim]{metadata: true, validate: validateAllocation},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("State", "A summary of the current state (allocated, pending, reserved, etc.)."), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, c *resourcev1.ResourceClaim) []any {
			var states []string
			if c.DeletionTimestamp != nil {
				states = append(states, "deleted")
			}
			switch {
			case c.Status.Allocation != nil && len(c.Status.ReservedFor) > 0:
				states = append(states, "allocated", "reserved")
			case c.Status.Allocation != nil:
				states = append(states, "allocated")
			case c.DeletionTimestamp == nil:
				states = append(states, "pending")
			}
			return []any{c.Name, strings.Join(states, ","), age(now, &c.ObjectMeta)}
		},
	}
}

// The limits of a claim.
const (
	maxRequests    = resourcev1.DeviceRequestsMaxSize
	maxReservedFor = resourcev1.ResourceClaimReservedForMaxSize
)

func validateDeviceClaim(claim *resourcev1.DeviceClaim, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(claim.Requests) > maxRequests {
		errs = append(errs, field.TooMany(path.Child("requests"), len(claim.Requests), maxRequests))
	}
	names := map[string]bool{}
	for i := range claim.Requests {
		request, at := &claim.Requests[i], path.Child("requests").Index(i)
		errs = append(errs, dnsLabel(request.Name, at.Child("name"))...)
		switch exact, some := request.Exactly, request.FirstAvailable; {
		case exact == nil && len(some) == 0:
			errs = append(errs, field.Required(at, "exactly one of `exactly` or `firstAvailable` is required"))
		case exact != nil && len(some) > 0:
			errs = append(errs, field.Invalid(at, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
		case exact != nil:
			errs = append(errs, validateRequest(exact.DeviceClassName, exact.Selectors, exact.AllocationMode, exact.Count, at.Child("exactly"))...)
		default:
			for j := range some {
				sub, at := &some[j], at.Child("firstAvailable").Index(j)
				errs = append(errs, dnsLabel(sub.Name, at.Child("name"))...)
				errs = append(errs, validateRequest(sub.DeviceClassName, sub.Selectors, sub.AllocationMode, sub.Count, at)...)
			}
		}
		if names[request.Name] {
			errs = append(errs, field.Duplicate(at, request.Name))
		}
		names[request.Name] = true
	}
	return errs
}

func validateRequest(class string, selectors []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if class == "" {
		errs = append(errs, field.Required(path.Child("deviceClassName"), ""))
	} else {
		errs = append(errs, dnsSubdomain(class, path.Child("deviceClassName"))...)
	}
	for i := range selectors {
		if selectors[i].CEL == nil {
			errs = append(errs, field.Required(path.Child("selectors").Index(i).Child("cel"), ""))
		}
	}
	switch mode {
	case resourcev1.DeviceAllocationModeAll:
		if count != 0 {
			errs = append(errs, field.Invalid(path.Child("count"), count, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode)))
		}
	case resourcev1.DeviceAllocationModeExactCount:
		if count <= 0 {
			errs = append(errs, field.Invalid(path.Child("count"), count, "must be greater than zero"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("allocationMode"), mode,
			[]resourcev1.DeviceAllocationMode{resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount}))
	}
	return errs
}

// validateAllocation keeps users and devices of a claim together.
func validateAllocation(changed, stored *resourcev1.ResourceClaim) field.ErrorList {
	path, status := field.NewPath("status"), &changed.Status
	var errs field.ErrorList
	at := path.Child("reservedFor")
	if len(status.ReservedFor) > maxReservedFor {
		errs = append(errs, field.TooMany(at, len(status.ReservedFor), maxReservedFor))
	}
	users := map[string]bool{}
	for i, user := range status.ReservedFor {
		if user.Resource == "" {
			errs = append(errs, field.Required(at.Index(i).Child("resource"), ""))
		}
		if user.Name == "" {
			errs = append(errs, field.Required(at.Index(i).Child("name"), ""))
		}
		if user.UID == "" {
			errs = append(errs, field.Required(at.Index(i).Child("uid"), ""))
		}
		if users[string(user.UID)] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("uid"), user.UID))
		}
		users[string(user.UID)] = true
	}
	if status.Allocation == nil && len(status.ReservedFor) > 0 {
		errs = append(errs, field.Forbidden(at, "may not be specified when `allocated` is not set"))
	}
	if len(status.ReservedFor) > 0 && changed.DeletionTimestamp != nil && !same(status.ReservedFor, stored.Status.ReservedFor) {
		before := map[string]bool{}
		for _, user := range stored.Status.ReservedFor {
			before[string(user.UID)] = true
		}
		for uid := range users {
			if !before[uid] {
				errs = append(errs, field.Forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
				break
			}
		}
	}
	if stored.Status.Allocation != nil && status.Allocation != nil {
		errs = append(errs, immutable(status.Allocation, stored.Status.Allocation, path.Child("allocation"))...)
	}
	return errs
}

func resourceClaimTemplates() row {
	return &kind[resourcev1.ResourceClaimTemplate]{
		version: resourcev1.SchemeGroupVersion, plural: "resourceclaimtemplates", singular: "resourceclaimtemplate",
		list: &resourcev1.ResourceClaimTemplateList{}, returnDeleted: true,
		validateCreate: func(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
			return validateDeviceClaim(&t.Spec.Spec.Devices, field.NewPath("spec", "spec", "devices"))
		},
		validateUpdate: func(changed, stored *resourcev1.ResourceClaimTemplate) field.ErrorList {
			return immutable(changed.Spec, stored.Spec, field.NewPath("spec"))
		},
	}
}

func deviceClasses() row {
	return &kind[resourcev1.DeviceClass]{
		version: resourcev1.SchemeGroupVersion, plural: "deviceclasses", singular: "deviceclass", list: &resourcev1.DeviceClassList{},
		clusterScoped: true, returnDeleted: true,
		wants: func(changed, stored *resourcev1.DeviceClass) bool { return !same(changed.Spec, stored.Spec) },
		validate: func(c *resourcev1.DeviceClass) field.ErrorList {
			var errs field.ErrorList
			for i := range c.Spec.Selectors {
				if c.Spec.Selectors[i].CEL == nil {
					errs = append(errs, field.Required(field.NewPath("spec", "selectors").Index(i).Child("cel"), ""))
				}
			}
			return errs
		},
	}
}

func resourceSlices() row {
	doc, pool := resourcev1.ResourceSliceSpec{}.SwaggerDoc(), resourcev1.ResourcePool{}.SwaggerDoc()
	return &kind[resourcev1.ResourceSlice]{
		version: resourcev1.SchemeGroupVersion, plural: "resourceslices", singular: "resourceslice", list: &resourcev1.ResourceSliceList{},
		clusterScoped: true, returnDeleted: true,
		wants:    func(changed, stored *resourcev1.ResourceSlice) bool { return !same(changed.Spec, stored.Spec) },
		validate: validateResourceSlice,
		validateUpdate: func(changed, stored *resourcev1.ResourceSlice) field.ErrorList {
			path := field.NewPath("spec")
			errs := immutable(changed.Spec.Driver, stored.Spec.Driver, path.Child("driver"))
			errs = append(errs, immutable(changed.Spec.NodeName, stored.Spec.NodeName, path.Child("nodeName"))...)
			return append(errs, immutable(changed.Spec.Pool.Name, stored.Spec.Pool.Name, path.Child("pool", "name"))...)
		},
		fields: func(s *resourcev1.ResourceSlice) fields.Set {
			return fields.Set{"spec.driver": s.Spec.Driver, "spec.nodeName": valueOr(s.Spec.NodeName, "")}
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Node", doc["nodeName"]), resource.Column("Driver", doc["driver"]), resource.Column("Pool", pool["name"]), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, s *resourcev1.ResourceSlice) []any {
			return []any{s.Name, valueOr(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, age(now, &s.ObjectMeta)}
		},
	}
}

func validateResourceSlice(s *resourcev1.ResourceSlice) field.ErrorList {
	path, spec := field.NewPath("spec"), &s.Spec
	var errs field.ErrorList
	if spec.Driver == "" {
		errs = append(errs, field.Required(path.Child("driver"), ""))
	} else {
		errs = append(errs, invalid(spec.Driver, path.Child("driver"), validation.IsDNS1123Subdomain(strings.ToLower(spec.Driver)))...)
	}
	if spec.Pool.Name == "" {
		errs = append(errs, field.Required(path.Child("pool", "name"), ""))
	}
	if spec.Pool.ResourceSliceCount <= 0 {
		errs = append(errs, field.Invalid(path.Child("pool", "resourceSliceCount"), spec.Pool.ResourceSliceCount, "must be greater than zero"))
	}
	switch ways := nodeFields(spec); {
	case len(ways) == 0:
		errs = append(errs, field.Required(path, "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"))
	case len(ways) > 1:
		errs = append(errs, field.Invalid(path, "{"+strings.Join(ways, ", ")+"}",
			"exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"))
	}
	names := map[string]bool{}
	for i := range spec.Devices {
		at, name := path.Child("devices").Index(i), spec.Devices[i].Name
		errs = append(errs, dnsLabel(name, at.Child("name"))...)
		if names[name] {
			errs = append(errs, field.Duplicate(at, name))
		}
		names[name] = true
	}
	return errs
}

// nodeFields are the fields of a slice, of those that say which nodes have the devices, that are set.
func nodeFields(spec *resourcev1.ResourceSliceSpec) []string {
	var fields []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"`nodeName`", spec.NodeName != nil}, {"`nodeSelector`", spec.NodeSelector != nil},
		{"`allNodes`", spec.AllNodes != nil}, {"`perDeviceNodeSelection`", spec.PerDeviceNodeSelection != nil},
	} {
		if field.set {
			fields = append(fields, field.name)
		}
	}
	return fields
}
