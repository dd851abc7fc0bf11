package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodWarnings returns the warnings that an API server of Kubernetes 1.36 sends back on the creation of pod: what is
// accepted, and most likely not meant.
func PodWarnings(pod *corev1.Pod) []string {
	var warnings []string
	if faults := validation.IsDNS1123Label(pod.Name); len(faults) > 0 {
		warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in"+
			" surprising behavior; a DNS label is recommended: %v", faults))
	}
	return append(warnings, newWarner(&pod.ObjectMeta, &pod.Spec, nil).all()...)
}

// TemplateWarnings returns the warnings that an API server sends back on an object with such a pod template at path.
func TemplateWarnings(template *corev1.PodTemplateSpec, path *field.Path) []string {
	return newWarner(&template.ObjectMeta, &template.Spec, path).all()
}

// warner collects warnings about one pod or template.
type warner struct {
	meta *metav1.ObjectMeta
	spec *corev1.PodSpec
	// path is where the template stands, nil for a pod.
	path *field.Path
	list []string
}

func newWarner(meta *metav1.ObjectMeta, spec *corev1.PodSpec, path *field.Path) *warner {
	return &warner{meta: meta, spec: spec, path: path}
}

func (w *warner) all() []string {
	w.nodeLabels()
	w.spread()
	w.annotations()
	w.volumes()
	w.overlappingFiles()
	w.duplicates()
	w.overhead()
	w.seccompAnnotation()
	visitContainers(w.spec, w.path.Child("spec"), w.container)
	w.ports()
	w.portNames()
	if grace := w.spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		w.add(w.path.Child("spec", "terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	w.affinity()
	w.addresses()
	return w.list
}

func (w *warner) add(path *field.Path, format string, args ...any) {
	w.list = append(w.list, fmt.Sprintf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// deprecatedLabel says what to use instead of a label of nodes, "" when the label is fine.
func deprecatedLabel(key string) string {
	switch key {
	case "beta.kubernetes.io/arch":
		return `deprecated since v1.14; use "kubernetes.io/arch" instead`
	case "beta.kubernetes.io/os":
		return `deprecated since v1.14; use "kubernetes.io/os" instead`
	case "failure-domain.beta.kubernetes.io/region":
		return `deprecated since v1.17; use "topology.kubernetes.io/region" instead`
	case "failure-domain.beta.kubernetes.io/zone":
		return `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`
	case "beta.kubernetes.io/instance-type":
		return `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`
	case "app.kubernetes.io/created-by":
		return "deprecated since v1.9"
	case "scheduler.alpha.kubernetes.io/preferAvoidPods":
		return "deprecated since v1.22; use Taints and Tolerations instead"
	case "node-role.kubernetes.io/master":
		return `use "node-role.kubernetes.io/control-plane" instead`
	}
	return ""
}

func (w *warner) nodeLabels() {
	for _, key := range sortedKeys(w.spec.NodeSelector) {
		if instead := deprecatedLabel(key); instead != "" {
			w.add(w.path.Child("spec", "nodeSelector").Key(key), "%s", instead)
		}
	}
	nodes := nodeAffinityOf(w.spec)
	if nodes == nil {
		return
	}
	affinityPath := w.path.Child("spec", "affinity", "nodeAffinity")
	if required := nodes.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			w.nodeTerm(&required.NodeSelectorTerms[i], false,
				affinityPath.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i))
		}
	}
	for i := range nodes.PreferredDuringSchedulingIgnoredDuringExecution {
		w.nodeTerm(&nodes.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference, true,
			affinityPath.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"))
	}
}

func (w *warner) nodeTerm(term *corev1.NodeSelectorTerm, values bool, path *field.Path) {
	for i, expression := range term.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		if instead := deprecatedLabel(expression.Key); instead != "" {
			w.add(at.Child("key"), "%s is %s", expression.Key, instead)
		}
		if !values {
			continue
		}
		for j, value := range expression.Values {
			for _, fault := range validation.IsValidLabelValue(value) {
				w.add(at.Child("values").Index(j), "%s is invalid, %s", value, fault)
			}
		}
	}
}

const matchesNothing = "a null labelSelector results in matching no pod"

func (w *warner) spread() {
	for i, constraint := range w.spec.TopologySpreadConstraints {
		at := w.path.Child("spec", "topologySpreadConstraints").Index(i)
		if instead := deprecatedLabel(constraint.TopologyKey); instead != "" {
			w.add(at.Child("topologyKey"), "%s is %s", constraint.TopologyKey, instead)
		}
		if constraint.LabelSelector == nil {
			w.add(at.Child("labelSelector"), matchesNothing)
		}
	}
}

func (w *warner) annotations() {
	for _, old := range []struct{ key, instead string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, found := w.meta.Annotations[old.key]; found {
			w.add(w.path.Child("metadata", "annotations").Key(old.key), "%s", old.instead)
		}
	}
}

// duplicates warns of entries that a patch cannot tell apart, and of pull secrets without a name.
func (w *warner) duplicates() {
	seen := sets.New[string]()
	for i, alias := range w.spec.HostAliases {
		if seen.Has(alias.IP) {
			w.add(w.path.Child("spec", "hostAliases").Index(i).Child("ip"), "duplicate ip %q", alias.IP)
		}
		seen.Insert(alias.IP)
	}
	seen = sets.New[string]()
	for i, secret := range w.spec.ImagePullSecrets {
		if seen.Has(secret.Name) {
			w.add(w.path.Child("spec", "imagePullSecrets").Index(i).Child("name"), "duplicate name %q", secret.Name)
		}
		seen.Insert(secret.Name)
	}
	for i, secret := range w.spec.ImagePullSecrets {
		if secret.Name == "" {
			w.add(w.path.Child("spec", "imagePullSecrets").Index(i).Child("name"), "invalid empty name %q", secret.Name)
		}
	}
}

func (w *warner) overhead() {
	w.fractions(w.spec.Overhead, corev1.ResourceMemory, w.path.Child("spec", "overhead"))
	w.fractions(w.spec.Overhead, corev1.ResourceEphemeralStorage, w.path.Child("spec", "overhead"))
}

// fractions warns of parts of a byte.
func (w *warner) fractions(list corev1.ResourceList, name corev1.ResourceName, path *field.Path) {
	if amount, set := list[name]; set && amount.MilliValue()%1000 != 0 {
		w.add(path.Key(string(name)), "fractional byte value %q is invalid, must be an integer", amount.String())
	}
}

const useSeccompField = `non-functional in v1.27+; use the "seccompProfile" field instead`

func (w *warner) seccompAnnotation() {
	_, found := w.meta.Annotations[seccompPod]
	if found && (w.spec.SecurityContext == nil || w.spec.SecurityContext.SeccompProfile == nil) {
		w.add(w.path.Child("metadata", "annotations").Key(seccompPod), useSeccompField)
	}
}

func (w *warner) container(c *corev1.Container, path *field.Path) {
	key := seccompContainer + c.Name
	if _, found := w.meta.Annotations[key]; found && (c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil) {
		w.add(w.path.Child("metadata", "annotations").Key(key), useSeccompField)
	}
	w.appArmorAnnotation(c)
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		w.fractions(c.Resources.Limits, name, path.Child("resources", "limits"))
		w.fractions(c.Resources.Requests, name, path.Child("resources", "requests"))
	}
	w.hiddenVariables(c, path.Child("env"))
}

// appArmorAnnotation warns of the annotation that a field has taken the place of, unless both say the same.
func (w *warner) appArmorAnnotation(c *corev1.Container) {
	key := appArmorContainer + c.Name
	value, found := w.meta.Annotations[key]
	if !found || w.path == nil || (c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil) {
		return
	}
	if w.spec.SecurityContext != nil && w.spec.SecurityContext.AppArmorProfile != nil &&
		equality.Semantic.DeepEqual(w.spec.SecurityContext.AppArmorProfile, appArmorOf(value)) {
		return
	}
	w.add(w.path.Child("metadata", "annotations").Key(key), `deprecated since v1.30; use the "appArmorProfile" field instead`)
}

// appArmorOf is the field that an annotation stands for, nil when it stands for none.
func appArmorOf(annotation string) *corev1.AppArmorProfile {
	switch annotation {
	case corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	}
	if file, local := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix); local && file != "" {
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &file}
	}
	return nil
}

// hiddenVariables warns of variables that are set twice, unless the second value builds on the first.
func (w *warner) hiddenVariables(c *corev1.Container, path *field.Path) {
	seen := sets.New[string]()
	for i, env := range c.Env {
		reference := "$(" + env.Name + ")"
		builds := env.ValueFrom == nil && env.Value != reference && strings.Contains(env.Value, reference)
		if seen.Has(env.Name) && !builds {
			w.add(path.Index(i), "hides previous definition of %q, which may be dropped when using apply", env.Name)
		}
		seen.Insert(env.Name)
	}
}

func (w *warner) affinity() {
	if w.spec.Affinity == nil {
		return
	}
	term := func(selector *metav1.LabelSelector, path *field.Path) {
		if selector == nil {
			w.add(path.Child("labelSelector"), matchesNothing)
		}
	}
	both := func(name string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		path := w.path.Child("spec", "affinity", name)
		for i := range required {
			term(required[i].LabelSelector, path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))
		}
		for i := range preferred {
			term(preferred[i].PodAffinityTerm.LabelSelector,
				path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"))
		}
	}
	if near := w.spec.Affinity.PodAffinity; near != nil {
		both("podAffinity", near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if apart := w.spec.Affinity.PodAntiAffinity; apart != nil {
		both("podAntiAffinity", apart.RequiredDuringSchedulingIgnoredDuringExecution, apart.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}
