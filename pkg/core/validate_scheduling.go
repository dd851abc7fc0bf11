package core

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/features"
)

const (
	maxWeight     = 100
	inAndSelector = "exists in both matchLabelKeys and labelSelector"
)

// schedulingGroup checks which PodGroup a pod belongs to (KEP-4671).
func (c *specCheck) schedulingGroup(path *field.Path) field.ErrorList {
	group := c.spec.SchedulingGroup
	if group == nil || !c.opts.Gates.Enabled(features.GenericWorkload) {
		return nil
	}
	namePath := path.Child("podGroupName")
	if group.PodGroupName == nil {
		return field.ErrorList{field.Invalid(namePath, group.PodGroupName, "must specify one of: `podGroupName`")}
	}
	return invalidEach(namePath, *group.PodGroupName, apivalidation.NameIsDNSSubdomain(*group.PodGroupName, false))
}

// validateGates checks what holds a pod back from being ready (KEP-580) and from being scheduled (KEP-3521).
func validateGates(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range spec.ReadinessGates {
		name := string(gate.ConditionType)
		errs = append(errs, invalidEach(path.Child("readinessGates").Index(i).Child("conditionType"), name, validation.IsQualifiedName(name))...)
	}
	seen := sets.New[string]()
	for i, gate := range spec.SchedulingGates {
		at := path.Child("schedulingGates").Index(i)
		errs = append(errs, invalidEach(at, gate.Name, validation.IsQualifiedName(gate.Name))...)
		if seen.Has(gate.Name) {
			errs = append(errs, field.Duplicate(at, gate.Name))
		}
		seen.Insert(gate.Name)
	}
	return errs
}

func validateTolerations(tolerations []corev1.Toleration, path *field.Path, rules specRules) field.ErrorList {
	var errs field.ErrorList
	for i := range tolerations {
		t, at := &tolerations[i], path.Index(i)
		if t.Key != "" {
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		}
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator,
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		errs = append(errs, validateTolerationOperator(t, at, rules)...)
		if t.Effect != "" {
			errs = append(errs, oneOf(t.Effect, []corev1.TaintEffect{
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
			}, at.Child("effect"))...)
		}
	}
	return errs
}

func validateTolerationOperator(t *corev1.Toleration, path *field.Path, rules specRules) field.ErrorList {
	operatorPath := path.Child("operator")
	supported := []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if faults := validation.IsValidLabelValue(t.Value); len(faults) > 0 {
			return field.ErrorList{field.Invalid(operatorPath, t.Value, strings.Join(faults, ";"))}
		}
		return nil
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(operatorPath, t.Value, "value must be empty when `operator` is 'Exists'")}
		}
		return nil
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if rules.tolerationComparisons {
			return validateComparedValue(t.Value, path.Child("value"))
		}
		// The gate TaintTolerationComparisonOperators is off, and yet the answer names them: so it is in Kubernetes.
		supported = append(supported, corev1.TolerationOpLt, corev1.TolerationOpGt)
	}
	return field.ErrorList{field.NotSupported(operatorPath, t.Operator, supported)}
}

// validateComparedValue checks that a toleration compares with a number.
func validateComparedValue(value string, path *field.Path) field.ErrorList {
	errs := invalidEach(path, value, content.IsDecimalInteger(value))
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		errs = append(errs, field.Invalid(path, value, err.Error()))
	}
	return errs
}

// affinity checks which nodes and which other pods a pod wants to be near to or apart from.
func (c *specCheck) affinity(path *field.Path) field.ErrorList {
	affinity := c.spec.Affinity
	if affinity == nil {
		return nil
	}
	var errs field.ErrorList
	if nodes := affinity.NodeAffinity; nodes != nil {
		errs = append(errs, c.nodeAffinity(nodes, path.Child("nodeAffinity"))...)
	}
	if near := affinity.PodAffinity; near != nil {
		errs = append(errs, c.podAffinity(near.RequiredDuringSchedulingIgnoredDuringExecution,
			near.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))...)
	}
	if apart := affinity.PodAntiAffinity; apart != nil {
		errs = append(errs, c.podAffinity(apart.RequiredDuringSchedulingIgnoredDuringExecution,
			apart.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))...)
	}
	return errs
}

func (c *specCheck) nodeAffinity(nodes *corev1.NodeAffinity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if required := nodes.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		termsPath := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(termsPath, "must have at least one node selector term"))
		}
		for i := range required.NodeSelectorTerms {
			errs = append(errs, validateNodeTerm(&required.NodeSelectorTerms[i], c.nodeAffinityValues, termsPath.Index(i))...)
		}
	}
	for i := range nodes.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &nodes.PreferredDuringSchedulingIgnoredDuringExecution[i], path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, validateWeight(term.Weight, at)...)
		// Values that no label can have are let through here: on a single node nothing is preferred over another.
		errs = append(errs, validateNodeTerm(&term.Preference, true, at.Child("preference"))...)
	}
	return errs
}

func validateWeight(weight int32, path *field.Path) field.ErrorList {
	if weight >= 1 && weight <= maxWeight {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("weight"), weight, "must be in the range 1-100")}
}

func validateNodeTerm(term *corev1.NodeSelectorTerm, anyValue bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range term.MatchExpressions {
		errs = append(errs, validateNodeExpression(&term.MatchExpressions[i], anyValue, path.Child("matchExpressions").Index(i))...)
	}
	for i := range term.MatchFields {
		errs = append(errs, validateNodeField(&term.MatchFields[i], path.Child("matchFields").Index(i))...)
	}
	return errs
}

func validateNodeExpression(want *corev1.NodeSelectorRequirement, anyValue bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	valuesPath := path.Child("values")
	switch want.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(want.Values) == 0 {
			errs = append(errs, field.Required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(want.Values) > 0 {
			errs = append(errs, field.Forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(want.Values) != 1 {
			errs = append(errs, field.Required(valuesPath, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), want.Operator, "not a valid selector operator"))
	}
	errs = append(errs, metavalidation.ValidateLabelName(want.Key, path.Child("key"))...)
	if anyValue {
		return errs
	}
	for i, value := range want.Values {
		errs = append(errs, invalidEach(valuesPath.Index(i), value, validation.IsValidLabelValue(value))...)
	}
	return errs
}

func validateNodeField(want *corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch want.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(want.Values) != 1 {
			errs = append(errs, field.Required(path.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), want.Operator, "not a valid selector operator"))
	}
	if want.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(path.Child("key"), want.Key, "not a valid field selector key"))
	}
	for i, value := range want.Values {
		errs = append(errs, invalidEach(path.Child("values").Index(i), value, apivalidation.NameIsDNSSubdomain(value, false))...)
	}
	return errs
}

func (c *specCheck) podAffinity(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range required {
		errs = append(errs, c.podAffinityTerm(&required[i], path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))...)
	}
	for i := range preferred {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, validateWeight(preferred[i].Weight, at)...)
		errs = append(errs, c.podAffinityTerm(&preferred[i].PodAffinityTerm, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func (c *specCheck) podAffinityTerm(term *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	options := metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: c.affinitySelectors}
	errs := ValidateLabelSelector(term.LabelSelector, options, path.Child("labelSelector"))
	errs = append(errs, ValidateLabelSelector(term.NamespaceSelector, options, path.Child("namespaceSelector"))...)
	for _, namespace := range term.Namespaces {
		errs = append(errs, invalidEach(path.Child("namespace"), namespace, apivalidation.ValidateNamespaceName(namespace, false))...)
	}
	errs = append(errs, validateLabelKeys(term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector, path)...)
	if term.TopologyKey == "" {
		errs = append(errs, field.Required(path.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, metavalidation.ValidateLabelName(term.TopologyKey, path.Child("topologyKey"))...)
}

// validateLabelKeys checks matchLabelKeys and mismatchLabelKeys (KEP-3633, KEP-3243): keys of the pod's own labels
// whose values are written into the selector when the pod is created. A key that the selector names twice was there
// before.
func validateLabelKeys(match, mismatch []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	errs := validateKeyNames(match, selector, path.Child("matchLabelKeys"))
	errs = append(errs, validateKeyNames(mismatch, selector, path.Child("mismatchLabelKeys"))...)
	if selector != nil {
		position := map[string]int{}
		for i, key := range match {
			position[key] = i
		}
		named := sets.KeySet(selector.MatchLabels)
		for _, expression := range selector.MatchExpressions {
			if i, listed := position[expression.Key]; listed && named.Has(expression.Key) {
				errs = append(errs, field.Invalid(path.Index(i), expression.Key, inAndSelector))
			}
			named.Insert(expression.Key)
		}
	}
	unwanted := sets.New(mismatch...)
	for i, key := range match {
		if unwanted.Has(key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func validateKeyNames(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if selector == nil {
		return field.ErrorList{field.Forbidden(path, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metavalidation.ValidateLabelName(key, path.Index(i))...)
	}
	return errs
}

// validateLegacySpreadKeys is the rule for matchLabelKeys that pods stored before Kubernetes 1.34 live by.
func validateLegacySpreadKeys(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	errs := validateKeyNames(keys, selector, path)
	if selector == nil {
		for i, key := range keys {
			errs = append(errs, metavalidation.ValidateLabelName(key, path.Index(i))...)
		}
		return errs
	}
	named := sets.KeySet(selector.MatchLabels)
	for _, expression := range selector.MatchExpressions {
		named.Insert(expression.Key)
	}
	for i, key := range keys {
		if named.Has(key) {
			errs = append(errs, field.Invalid(path.Index(i), key, inAndSelector))
		}
	}
	return errs
}

// spreadConstraints checks how evenly pods are to be spread over zones, hosts and the like (KEP-895).
func (c *specCheck) spreadConstraints(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	constraints := c.spec.TopologySpreadConstraints
	for i := range constraints {
		constraint, at := &constraints[i], path.Index(i)
		errs = append(errs, positive(constraint.MaxSkew, at.Child("maxSkew"))...)
		if constraint.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, oneOf(constraint.WhenUnsatisfiable,
			[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}, at.Child("whenUnsatisfiable"))...)
		for j := i + 1; j < len(constraints); j++ {
			if constraints[j].TopologyKey == constraint.TopologyKey && constraints[j].WhenUnsatisfiable == constraint.WhenUnsatisfiable {
				errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"),
					fmt.Sprintf("{%v, %v}", constraint.TopologyKey, constraint.WhenUnsatisfiable)))
				break
			}
		}
		errs = append(errs, validateMinDomains(constraint, at.Child("minDomains"))...)
		errs = append(errs, validateInclusion(constraint.NodeAffinityPolicy, at.Child("nodeAffinityPolicy"))...)
		errs = append(errs, validateInclusion(constraint.NodeTaintsPolicy, at.Child("nodeTaintsPolicy"))...)
		if c.legacySpreadKeys {
			errs = append(errs, validateLegacySpreadKeys(constraint.MatchLabelKeys, constraint.LabelSelector, at.Child("matchLabelKeys"))...)
		} else {
			errs = append(errs, validateLabelKeys(constraint.MatchLabelKeys, nil, constraint.LabelSelector, at)...)
		}
		if !c.spreadSelectors {
			errs = append(errs, ValidateLabelSelector(constraint.LabelSelector,
				metavalidation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
		}
	}
	return errs
}

func positive(value int32, path *field.Path) field.ErrorList {
	if value > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, int64(value), "must be greater than zero")}
}

func validateMinDomains(constraint *corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	if constraint.MinDomains == nil {
		return nil
	}
	errs := positive(*constraint.MinDomains, path)
	if constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(errs, field.Invalid(path, *constraint.MinDomains,
			fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, constraint.WhenUnsatisfiable)))
	}
	return errs
}

func validateInclusion(policy *corev1.NodeInclusionPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	return oneOf(*policy, []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}, path)
}
