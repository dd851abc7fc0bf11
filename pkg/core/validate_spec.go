package core

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// specCheck is one validation of a pod spec: what its parts need to know of one another.
type specCheck struct {
	specRules
	spec *corev1.PodSpec
	// volumes are the valid volumes by name: what containers may mount.
	volumes map[string]*corev1.VolumeSource
	// claims are the names in spec.resourceClaims: what containers may use.
	claims sets.Set[string]
}

func validatePodSpec(spec *corev1.PodSpec, path *field.Path, rules specRules) field.ErrorList {
	check := &specCheck{specRules: rules, spec: spec}
	var errs field.ErrorList
	if spec.TerminationGracePeriodSeconds == nil {
		errs = append(errs, field.Required(path.Child("terminationGracePeriodSeconds"), ""))
	}
	errs = append(errs, check.podVolumes(path.Child("volumes"))...)
	errs = append(errs, check.resourceClaims(path.Child("resourceClaims"))...)
	errs = append(errs, check.containers(path.Child("containers"))...)
	errs = append(errs, check.initContainers(path.Child("initContainers"))...)
	errs = append(errs, check.ephemeralContainers(path.Child("ephemeralContainers"))...)
	errs = append(errs, check.podResources(path)...)
	errs = append(errs, check.hostNetworkPorts(path.Child("containers"))...)
	errs = append(errs, validatePolicies(spec, path)...)
	errs = append(errs, metadata.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, check.podSecurity(path.Child("securityContext"))...)
	errs = append(errs, check.affinity(path.Child("affinity"))...)
	errs = append(errs, validateDNSConfig(spec, path.Child("dnsConfig"))...)
	errs = append(errs, validateGates(spec, path)...)
	errs = append(errs, check.spreadConstraints(path.Child("topologySpreadConstraints"))...)
	errs = append(errs, validateHostProcess(spec, path)...)
	errs = append(errs, check.hostUsers(path)...)
	errs = append(errs, validateHostnameOverride(spec, path.Child("hostnameOverride"))...)
	errs = append(errs, check.identity(path)...)
	errs = append(errs, check.operatingSystem(path)...)
	errs = append(errs, check.schedulingGroup(path.Child("schedulingGroup"))...)
	return append(errs, validateEnvFiles(spec, path)...)
}

// validatePolicies checks the restart policy and the DNS policy.
func validatePolicies(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := requiredOneOf(spec.RestartPolicy,
		[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}, path.Child("restartPolicy"))
	return append(errs, requiredOneOf(spec.DNSPolicy,
		[]corev1.DNSPolicy{corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone}, path.Child("dnsPolicy"))...)
}

// identity checks the names a spec gives and refers to, and its deadline.
func (c *specCheck) identity(path *field.Path) field.ErrorList {
	spec := c.spec
	var errs field.ErrorList
	named := func(name, value string, rule apivalidation.ValidateNameFunc) {
		if value != "" {
			errs = append(errs, invalidEach(path.Child(name), value, rule(value, false))...)
		}
	}
	named("serviceAccountName", spec.ServiceAccountName, apivalidation.ValidateServiceAccountName)
	named("nodeName", spec.NodeName, apivalidation.NameIsDNSSubdomain)
	if deadline := spec.ActiveDeadlineSeconds; deadline != nil && (*deadline < 1 || *deadline > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *deadline, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	named("hostname", spec.Hostname, apivalidation.NameIsDNSLabel)
	named("subdomain", spec.Subdomain, apivalidation.NameIsDNSLabel)
	errs = append(errs, validateTolerations(spec.Tolerations, path.Child("tolerations"), c.specRules)...)
	errs = append(errs, validateHostAliases(spec.HostAliases, path.Child("hostAliases"))...)
	named("priorityClassName", spec.PriorityClassName, apivalidation.NameIsDNSSubdomain)
	if name := spec.RuntimeClassName; name != nil {
		errs = append(errs, invalidEach(path.Child("runtimeClassName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
	}
	if policy := spec.PreemptionPolicy; policy != nil {
		errs = append(errs, requiredOneOf(*policy,
			[]corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}, path.Child("preemptionPolicy"))...)
	}
	if spec.Overhead != nil {
		overhead := corev1.ResourceRequirements{Limits: spec.Overhead}
		errs = append(errs, c.requirements(&overhead, validateContainerResourceName, path.Child("overhead"))...)
	}
	return errs
}

// resourceClaims checks spec.resourceClaims (KEP-4381) and notes their names.
func (c *specCheck) resourceClaims(path *field.Path) field.ErrorList {
	c.claims = sets.New[string]()
	var errs field.ErrorList
	mirror := false
	if c.isPod() {
		_, mirror = c.pod.Annotations[corev1.MirrorPodAnnotationKey]
	}
	for i := range c.spec.ResourceClaims {
		if mirror {
			c.claims.Insert(c.spec.ResourceClaims[i].Name)
			errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
			continue
		}
		errs = append(errs, c.resourceClaim(&c.spec.ResourceClaims[i], path.Index(i))...)
	}
	return errs
}

func (c *specCheck) resourceClaim(claim *corev1.PodResourceClaim, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch namePath := path.Child("name"); {
	case claim.Name == "":
		errs = append(errs, field.Required(namePath, ""))
	case c.claims.Has(claim.Name):
		errs = append(errs, field.Duplicate(namePath, claim.Name))
	default:
		errs = append(errs, invalidEach(namePath, claim.Name, validation.IsDNS1123Label(claim.Name))...)
		c.claims.Insert(claim.Name)
	}
	switch existing, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName; {
	case existing != nil && template != nil:
		errs = append(errs, field.Invalid(path, *claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
	case existing == nil && template == nil:
		errs = append(errs, field.Invalid(path, *claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
	}
	if name := claim.ResourceClaimName; name != nil {
		errs = append(errs, invalidEach(path.Child("resourceClaimName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
	}
	if name := claim.ResourceClaimTemplateName; name != nil {
		errs = append(errs, invalidEach(path.Child("resourceClaimTemplateName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
	}
	return errs
}

// invalidEach reports value once for each of the details.
func invalidEach(path *field.Path, value any, details []string) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range details {
		errs = append(errs, field.Invalid(path, value, detail))
	}
	return errs
}

// oneOf reports a value that is not among the supported ones, which it names in their order.
func oneOf[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// requiredOneOf reports a value that is missing or not among the supported ones.
func requiredOneOf[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(value, supported, path)
}
