package core

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// leniency says which rules, younger than pods that may be stored, are not held against a spec because the stored one
// breaks them already, or uses what only an alpha gate lets in.
type leniency struct {
	deletionCost          bool
	affinitySelectors     bool
	nodeAffinityValues    bool
	spreadSelectors       bool
	legacySpreadKeys      bool
	indivisibleHugePages  bool
	tokenPaths            bool
	hostSysctls           bool
	restartOnResize       bool
	userNamespaceDevices  bool
	userNamespaceHostNet  bool
	anySELinuxChange      bool
	tolerationComparisons bool
}

// forgive notes what the stored spec and metadata break.
func (l *leniency) forgive(spec *corev1.PodSpec, meta *metav1.ObjectMeta) {
	l.deletionCost = checkDeletionCost(meta.Annotations) != nil
	l.affinitySelectors = HasInvalidAffinitySelector(spec)
	l.nodeAffinityValues = hasInvalidNodeAffinityValue(spec.Affinity)
	for i := range spec.TopologySpreadConstraints {
		constraint := &spec.TopologySpreadConstraints[i]
		l.spreadSelectors = l.spreadSelectors || invalidSelector(constraint.LabelSelector)
		l.legacySpreadKeys = l.legacySpreadKeys ||
			len(validateLabelKeys(constraint.MatchLabelKeys, nil, constraint.LabelSelector, nil)) > 0
	}
	l.indivisibleHugePages = hasIndivisibleHugePages(spec)
	l.tokenPaths = anyProjection(spec, func(p *corev1.VolumeProjection) bool {
		return p.ServiceAccountToken != nil && len(validateLocalPath(p.ServiceAccountToken.Path, nil)) > 0
	})
	if spec.SecurityContext != nil {
		for _, sysctl := range spec.SecurityContext.Sysctls {
			l.hostSysctls = l.hostSysctls || validateHostSysctl(sysctl.Name, spec, nil) != nil
		}
		l.anySELinuxChange = spec.SecurityContext.SELinuxChangePolicy != nil
	}
	for i := range spec.InitContainers {
		l.restartOnResize = l.restartOnResize || (!isSidecar(&spec.InitContainers[i]) && restartsOnResize(&spec.InitContainers[i]))
	}
	if usesUserNamespace(spec) {
		l.userNamespaceHostNet = spec.HostNetwork
		l.userNamespaceDevices = anyContainer(spec, func(c *corev1.Container) bool { return len(c.VolumeDevices) > 0 })
	}
	for i := range spec.Tolerations {
		op := spec.Tolerations[i].Operator
		l.tolerationComparisons = l.tolerationComparisons || op == corev1.TolerationOpLt || op == corev1.TolerationOpGt
	}
}

// HasInvalidAffinitySelector reports whether a label selector in the pod affinity or anti-affinity of spec would not be
// accepted today. Objects stored before that rule may keep such selectors.
func HasInvalidAffinitySelector(spec *corev1.PodSpec) bool {
	found := false
	forEachAffinityTerm(spec.Affinity, func(term *corev1.PodAffinityTerm) {
		found = found || invalidSelector(term.LabelSelector) || invalidSelector(term.NamespaceSelector)
	})
	return found
}

func invalidSelector(selector *metav1.LabelSelector) bool {
	return len(metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, field.NewPath("selector"))) > 0
}

func hasInvalidNodeAffinityValue(affinity *corev1.Affinity) bool {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, requirement := range term.MatchExpressions {
			for _, value := range requirement.Values {
				if len(validation.IsValidLabelValue(value)) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// forEachAffinityTerm calls visit with each term of pod affinity and anti-affinity, required and preferred.
func forEachAffinityTerm(affinity *corev1.Affinity, visit func(*corev1.PodAffinityTerm)) {
	if affinity == nil {
		return
	}
	each := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range preferred {
			visit(&preferred[i].PodAffinityTerm)
		}
		for i := range required {
			visit(&required[i])
		}
	}
	if near := affinity.PodAffinity; near != nil {
		each(near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if apart := affinity.PodAntiAffinity; apart != nil {
		each(apart.RequiredDuringSchedulingIgnoredDuringExecution, apart.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func restartsOnResize(c *corev1.Container) bool {
	for _, policy := range c.ResizePolicy {
		if policy.RestartPolicy == corev1.RestartContainer {
			return true
		}
	}
	return false
}

func usesUserNamespace(spec *corev1.PodSpec) bool { return spec.HostUsers != nil && !*spec.HostUsers }

// checkDeletionCost returns an error when the annotation controller.kubernetes.io/pod-deletion-cost is there and no
// 32-bit integer.
func checkDeletionCost(annotations map[string]string) error {
	value, found := annotations[corev1.PodDeletionCost]
	if !found {
		return nil
	}
	if strings.HasPrefix(value, "+") || (strings.HasPrefix(value, "0") && value != "0") {
		return fmt.Errorf("reading pod deletion cost %q: %w", value, strconv.ErrSyntax)
	}
	if _, err := strconv.ParseInt(value, 10, 32); err != nil {
		return fmt.Errorf("reading pod deletion cost %q: %w", value, err)
	}
	return nil
}
