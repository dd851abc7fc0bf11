package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type nameRule func(corev1.ResourceName, *field.Path) field.ErrorList

// requirements checks what a container, or a pod as a whole, requests and is limited to. Resources are looked at in
// the order of their names, so that the list of errors is the same each time.
func (c *specCheck) requirements(resources *corev1.ResourceRequirements, nameRule nameRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	compute, hugePages := false, false
	look := func(name corev1.ResourceName) {
		compute = compute || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		hugePages = hugePages || isHugePages(name)
	}
	limitsPath, requestsPath := path.Child("limits"), path.Child("requests")
	for _, name := range sortedNames(resources.Limits) {
		look(name)
		amount, at := resources.Limits[name], limitsPath.Key(string(name))
		errs = append(errs, nameRule(name, at)...)
		errs = append(errs, validateAmount(name, amount, at)...)
		errs = append(errs, c.hugePageAmount(name, amount, at)...)
	}
	for _, name := range sortedNames(resources.Requests) {
		look(name)
		amount, at := resources.Requests[name], requestsPath.Key(string(name))
		errs = append(errs, nameRule(name, at)...)
		errs = append(errs, validateAmount(name, amount, at)...)
		errs = append(errs, requestWithinLimit(name, amount, resources.Limits, limitsPath, requestsPath)...)
		errs = append(errs, c.hugePageAmount(name, amount, at)...)
	}
	if hugePages && !compute {
		errs = append(errs, field.Forbidden(path, "HugePages require cpu or memory"))
	}
	return append(errs, c.claimsUsed(resources.Claims, path.Child("claims"))...)
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}

// requestWithinLimit checks a request against the limit of the same resource. Of what cannot be overcommitted both
// must be given and equal.
func requestWithinLimit(name corev1.ResourceName, amount resource.Quantity, limits corev1.ResourceList, limitsPath, requestsPath *field.Path) field.ErrorList {
	limit, limited := limits[name]
	exact := !mayOvercommit(name)
	switch {
	case !limited && exact:
		return field.ErrorList{field.Required(limitsPath, "Limit must be set for non overcommitable resources")}
	case !limited:
		return nil
	case exact && amount.Cmp(limit) != 0:
		return field.ErrorList{field.Invalid(requestsPath, amount.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))}
	case amount.Cmp(limit) > 0:
		return field.ErrorList{field.Invalid(requestsPath, amount.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))}
	}
	return nil
}

// validateAmount checks that an amount is not negative, and whole where the resource comes in pieces.
func validateAmount(name corev1.ResourceName, amount resource.Quantity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if amount.Sign() < 0 {
		errs = append(errs, field.Invalid(path, amount.String(), apivalidation.IsNegativeErrorMsg))
	}
	if isWhole(name) && amount.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(path, amount, "must be an integer"))
	}
	return errs
}

func (c *specCheck) hugePageAmount(name corev1.ResourceName, amount resource.Quantity, path *field.Path) field.ErrorList {
	if !isHugePages(name) || c.indivisibleHugePages || hugePagesDivide(name, amount) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, amount.String(), fmt.Sprintf("%s is not positive integer multiple of %s", amount.String(), name))}
}

// hugePagesDivide reports whether an amount is a multiple of the page size in the name of the resource.
func hugePagesDivide(name corev1.ResourceName, amount resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return amount.Value()%size.Value() == 0
}

func hasIndivisibleHugePages(spec *corev1.PodSpec) bool {
	indivisible := func(list corev1.ResourceList) bool {
		for name, amount := range list {
			if isHugePages(name) && !hugePagesDivide(name, amount) {
				return true
			}
		}
		return false
	}
	return indivisible(spec.Overhead) || anyContainer(spec, func(c *corev1.Container) bool {
		return indivisible(c.Resources.Limits) || indivisible(c.Resources.Requests)
	})
}

// claimsUsed checks which of the pod's resource claims a container uses: all requests of a claim, or one by one.
func (c *specCheck) claimsUsed(claims []corev1.ResourceClaim, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	used := sets.New[string]()
	for i, claim := range claims {
		at := path.Index(i)
		if claim.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		switch key := claim.Name + "/" + claim.Request; {
		case used.Has(claim.Name):
			errs = append(errs, field.Duplicate(at, claim.Name))
		case claim.Request == "":
			for other := range used {
				if name, _, parted := strings.Cut(other, "/"); parted && name == claim.Name {
					errs = append(errs, field.Duplicate(at, claim.Name))
				}
			}
			used.Insert(claim.Name)
		default:
			errs = append(errs, invalidEach(at.Child("request"), claim.Request, validation.IsDNS1123Label(claim.Request))...)
			if used.Has(key) {
				errs = append(errs, field.Duplicate(at, key))
			}
			used.Insert(key)
		}
		if !c.claims.Has(claim.Name) {
			missing := field.NotFound(at, claim.Name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
			if c.claims.Len() > 0 {
				missing.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(sets.List(c.claims), ", ")
			}
			errs = append(errs, missing)
		}
	}
	return errs
}

// podResources checks the resources of a pod as a whole (KEP-2837) and that its containers fit into them.
func (c *specCheck) podResources(specPath *field.Path) field.ErrorList {
	whole, path := c.spec.Resources, specPath.Child("resources")
	if whole == nil {
		return nil
	}
	if c.spec.OS != nil && c.spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(path, "may not be set for a windows pod")}
	}
	var errs field.ErrorList
	if whole.Claims != nil {
		errs = append(errs, field.Forbidden(path.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, c.requirements(whole, validatePodResourceName, path)...)
	requests := aggregate(c.spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	errs = append(errs, atLeast(whole.Requests, requests, "requests", path.Child("requests"))...)
	limits := aggregate(c.spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
	maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool { return !isHugePages(name) })
	errs = append(errs, atLeast(whole.Limits, limits, "limits", path.Child("limits"))...)
	for i := range c.spec.Containers {
		own := c.spec.Containers[i].Resources.Limits
		for _, name := range sortedNames(own) {
			amount := own[name]
			if limit, set := whole.Limits[name]; set && amount.Cmp(limit) > 0 {
				errs = append(errs, field.Invalid(path.Child("containers").Index(i).Key(string(name)).Child("limits"), amount.String(),
					"must be less than or equal to pod limits of "+limit.String()))
			}
		}
	}
	return errs
}

func atLeast(whole, parts corev1.ResourceList, what string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedNames(parts) {
		sum := parts[name]
		if amount, set := whole[name]; set && sum.Cmp(amount) > 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), amount.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", what, sum.String())))
		}
	}
	return errs
}
