package generate

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// EditJob changes something in a stored Job that may be changed, at least in some Jobs.
func (g *Generator) EditJob(job *batchv1.Job) {
	spec := &job.Spec
	switch g.random.IntN(7) {
	case 0:
		spec.Suspend = new(spec.Suspend == nil || !*spec.Suspend)
	case 1:
		spec.Parallelism = new(number[int32](g, 0, 8)())
	case 2:
		spec.Completions = new(number[int32](g, 1, 8)())
		spec.Parallelism = new(*spec.Completions + int32(pick(g, 0, 0, 0, 1)))
	case 3:
		spec.BackoffLimit, spec.ActiveDeadlineSeconds = new(int32(3)), maybe(g, 0.5, number[int64](g, 1, 9))
	case 4:
		spec.TTLSecondsAfterFinished = maybe(g, 0.7, number[int32](g, 0, 9))
	default:
		g.editTemplate(&spec.Template)
	}
}

// editTemplate changes where pods run or what they ask for, which a suspended Job may.
func (g *Generator) editTemplate(template *corev1.PodTemplateSpec) {
	switch g.random.IntN(6) {
	case 0:
		g.setLabel(&template.Labels)
	case 1:
		g.setLabel(&template.Annotations)
	case 2:
		if len(template.Spec.Containers) > 0 {
			g.editResources(&template.Spec.Containers[g.random.IntN(len(template.Spec.Containers))].Resources)
		}
	case 3:
		template.Spec.Affinity = maybe(g, 0.8, g.affinity)
	default:
		g.editPlacement(&template.Spec)
	}
}

func (g *Generator) setLabel(labels *map[string]string) {
	if *labels == nil {
		*labels = map[string]string{}
	}
	(*labels)[g.labelKey()] = pick(g, "", "a", "b")
}

func (g *Generator) editResources(resources *corev1.ResourceRequirements) {
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	resources.Requests[corev1.ResourceCPU] = resource.MustParse(pick(g, "50m", "100m", "1"))
}

// editPlacement narrows or widens the choice of nodes.
func (g *Generator) editPlacement(spec *corev1.PodSpec) {
	switch g.random.IntN(5) {
	case 0:
		g.setLabel(&spec.NodeSelector)
	case 1:
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: g.labelKey(), Operator: corev1.TolerationOpExists})
	case 2:
		if len(spec.SchedulingGates) > 0 && g.Chance(0.7) {
			spec.SchedulingGates = spec.SchedulingGates[1:]
		} else {
			spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: g.name()})
		}
	default:
		g.editNodeAffinity(spec)
	}
}

func (g *Generator) editNodeAffinity(spec *corev1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity := spec.Affinity.NodeAffinity
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil && len(required.NodeSelectorTerms) > 0 && g.Chance(0.7) {
		term := &required.NodeSelectorTerms[g.random.IntN(len(required.NodeSelectorTerms))]
		more := g.nodeTerm()
		term.MatchExpressions = append(term.MatchExpressions, more.MatchExpressions...)
		term.MatchFields = append(term.MatchFields, more.MatchFields...)
		return
	}
	if g.Chance(0.3) {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 1, Preference: g.nodeTerm()})
		return
	}
	affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{g.nodeTerm()}}
}

// EditPod changes something in a stored pod that may be changed, at least in some pods.
func (g *Generator) EditPod(pod *corev1.Pod) {
	spec := &pod.Spec
	switch g.random.IntN(7) {
	case 0:
		if len(spec.Containers) > 0 {
			spec.Containers[0].Image = pick(g, "busybox:2", "", " x")
		}
	case 1:
		if len(spec.InitContainers) > 0 {
			spec.InitContainers[0].Image = "busybox:2"
		}
	case 2:
		spec.ActiveDeadlineSeconds = maybe(g, 0.8, number[int64](g, 0, 500))
	case 3:
		spec.TerminationGracePeriodSeconds = new(int64(1))
	case 4:
		g.setLabel(&pod.Labels)
	default:
		g.editPlacement(spec)
	}
}
