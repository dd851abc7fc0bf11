package plain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	common "github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// quotaNames are the resources without a domain that can be limited. Counts of objects are written count/NAME, and are
// domains as far as that goes.
var quotaNames = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
	corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	corev1.ResourceLimitsEphemeralStorage, corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices,
	corev1.ResourceReplicationControllers, corev1.ResourceSecrets, corev1.ResourcePersistentVolumeClaims, corev1.ResourceConfigMaps,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// wholeNumbers are those of them that are counts.
var wholeNumbers = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
	corev1.ResourcePersistentVolumeClaims, corev1.ResourceConfigMaps, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

func resourceQuotas() row {
	return &kind[corev1.ResourceQuota]{
		version: corev1.SchemeGroupVersion, plural: "resourcequotas", singular: "resourcequota",
		short: []string{"quota"}, list: &corev1.ResourceQuotaList{},
		returnDeleted: true,
		validate: func(q *corev1.ResourceQuota) field.ErrorList {
			path := field.NewPath("spec")
			errs := validateQuantities(q.Spec.Hard, path.Child("hard"))
			return append(errs, validateScopes(&q.Spec, path)...)
		},
		validateUpdate: func(changed, stored *corev1.ResourceQuota) field.ErrorList {
			before, after := slices.Sorted(slices.Values(stored.Spec.Scopes)), slices.Sorted(slices.Values(changed.Spec.Scopes))
			if !slices.Equal(slices.Compact(before), slices.Compact(after)) {
				return field.ErrorList{field.Invalid(field.NewPath("spec", "scopes"), changed.Spec.Scopes, "field is immutable")}
			}
			return nil
		},
		status: &status[corev1.ResourceQuota]{validate: func(changed, _ *corev1.ResourceQuota) field.ErrorList {
			path := field.NewPath("status")
			errs := validateQuantities(changed.Status.Hard, path.Child("hard"))
			return append(errs, validateQuantities(changed.Status.Used, path.Child("used"))...)
		}},
		columns: columns([]metav1.TableColumnDefinition{
			common.Column("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
			common.Column("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
			common.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, q *corev1.ResourceQuota) []any {
			var requests, limits []string
			for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
				used, hard := q.Status.Used[name], q.Status.Hard[name]
				text := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
				if strings.HasPrefix(string(name), "limits.") {
					limits = append(limits, text)
				} else {
					requests = append(requests, text)
				}
			}
			return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), age(now, &q.ObjectMeta)}
		},
	}
}

// validateQuantities wants names that can be limited and sensible quantities.
func validateQuantities(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := path.Key(string(name))
		errs = append(errs, qualified(name, at)...)
		if !strings.Contains(string(name), "/") && !slices.Contains(quotaNames, name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) &&
			!strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix) {
			if name != corev1.ResourceStorage {
				errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
			}
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		quantity := list[name]
		errs = append(errs, nonNegativeQuantity(quantity, at)...)
		if slices.Contains(wholeNumbers, name) && quantity.MilliValue()%1000 != 0 {
			errs = append(errs, field.Invalid(at, quantity, "must be an integer"))
		}
	}
	return errs
}

// qualified wants the name of a resource.
func qualified(name corev1.ResourceName, path *field.Path) field.ErrorList {
	return invalid(name, path, validation.IsQualifiedName(string(name)))
}

func nonNegativeQuantity(quantity resource.Quantity, path *field.Path) field.ErrorList {
	if quantity.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than or equal to 0")}
}

func nonNegativeQuantities(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		errs = append(errs, nonNegativeQuantity(list[name], path.Key(string(name)))...)
	}
	return errs
}

// validateScopes checks which pods a quota is for.
func validateScopes(spec *corev1.ResourceQuotaSpec, path *field.Path) field.ErrorList {
	known := []corev1.ResourceQuotaScope{
		corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
		corev1.ResourceQuotaScopeVolumeAttributesClass,
	}
	var errs field.ErrorList
	for _, scope := range spec.Scopes {
		if !slices.Contains(known, scope) {
			errs = append(errs, field.Invalid(path.Child("scopes"), spec.Scopes, "unsupported scope"))
		}
	}
	for _, pair := range [][2]corev1.ResourceQuotaScope{{known[2], known[3]}, {known[0], known[1]}} {
		if slices.Contains(spec.Scopes, pair[0]) && slices.Contains(spec.Scopes, pair[1]) {
			errs = append(errs, field.Invalid(path.Child("scopes"), spec.Scopes, "conflicting scopes"))
		}
	}
	if spec.ScopeSelector == nil {
		return errs
	}
	at := path.Child("scopeSelector", "matchExpressions")
	for _, expression := range spec.ScopeSelector.MatchExpressions {
		if !slices.Contains(known, expression.ScopeName) {
			errs = append(errs, field.Invalid(at.Child("scopeName"), expression.ScopeName, "unsupported scope"))
		}
		switch expression.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			if len(expression.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
			}
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			if len(expression.Values) != 0 {
				errs = append(errs, field.Invalid(at.Child("values"), expression.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
			}
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), expression.Operator, "not a valid selector operator"))
		}
	}
	return errs
}

func limitRanges() row {
	return &kind[corev1.LimitRange]{
		version: corev1.SchemeGroupVersion, plural: "limitranges", singular: "limitrange",
		short: []string{"limits"}, list: &corev1.LimitRangeList{},
		createOnUpdate: true,
		validate:       validateLimitRange,
		noTable:        true,
	}
}

func validateLimitRange(l *corev1.LimitRange) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.LimitType]bool{}
	for i := range l.Spec.Limits {
		path, limit := field.NewPath("spec", "limits").Index(i), &l.Spec.Limits[i]
		at := path.Child("type")
		errs = append(errs, invalid(limit.Type, at, validation.IsQualifiedName(string(limit.Type)))...)
		standard := []corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}
		if limit.Type != "" && !strings.Contains(string(limit.Type), "/") && !slices.Contains(standard, limit.Type) {
			errs = append(errs, field.Invalid(at, limit.Type, "must be a standard limit type or fully qualified"))
		}
		if seen[limit.Type] {
			errs = append(errs, field.Duplicate(at, limit.Type))
		}
		seen[limit.Type] = true
		errs = append(errs, validateLimit(limit, path)...)
	}
	return errs
}

func validateLimit(limit *corev1.LimitRangeItem, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if limit.Type == corev1.LimitTypePod {
		if len(limit.Default) > 0 {
			errs = append(errs, field.Forbidden(path.Child("default"), "may not be specified when `type` is 'Pod'"))
		}
		if len(limit.DefaultRequest) > 0 {
			errs = append(errs, field.Forbidden(path.Child("defaultRequest"), "may not be specified when `type` is 'Pod'"))
		}
	}
	if limit.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := limit.Min[corev1.ResourceStorage]
		_, most := limit.Max[corev1.ResourceStorage]
		if !least && !most {
			errs = append(errs, field.Required(path.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	names := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{limit.Max, limit.Min, limit.Default, limit.DefaultRequest, limit.MaxLimitRequestRatio} {
		for name := range list {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, validateOrder(limit, name, path)...)
	}
	return errs
}

// validateOrder wants the least not to be above the default request, that not above the default limit, and that not
// above the most.
func validateOrder(limit *corev1.LimitRangeItem, name corev1.ResourceName, path *field.Path) field.ErrorList {
	type bound struct {
		words string
		list  corev1.ResourceList
	}
	var errs field.ErrorList
	order := func(at string, low, high bound, blamed corev1.ResourceList) {
		a, hasLow := low.list[name]
		b, hasHigh := high.list[name]
		if hasLow && hasHigh && a.Cmp(b) > 0 {
			value := blamed[name]
			errs = append(errs, field.Invalid(path.Child(at).Key(string(name)), value,
				fmt.Sprintf("%s value %s is greater than %s value %s", low.words, a.String(), high.words, b.String())))
		}
	}
	least, most := bound{"min", limit.Min}, bound{"max", limit.Max}
	request, standard := bound{"default request", limit.DefaultRequest}, bound{"default", limit.Default}
	order("min", least, most, limit.Min)
	order("defaultRequest", least, request, limit.DefaultRequest)
	order("defaultRequest", request, most, limit.DefaultRequest)
	order("defaultRequest", request, bound{"default limit", limit.Default}, limit.DefaultRequest)
	order("default", least, standard, limit.Min)
	order("default", standard, most, limit.Max)
	if ratio, found := limit.MaxLimitRequestRatio[name]; found && ratio.Cmp(resource.MustParse("1")) < 0 {
		errs = append(errs, field.Invalid(path.Child("maxLimitRequestRatio").Key(string(name)), ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	return errs
}
