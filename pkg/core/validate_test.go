package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

func container(edit func(*corev1.Container)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { edit(&pod.Spec.Containers[0]) }
}

func TestValidatePod(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given func(*corev1.Pod)
		want  []string
	}{
		"a plain pod is fine": {given: func(*corev1.Pod) {}},
		"a pod has containers": {
			given: func(pod *corev1.Pod) { pod.Spec.Containers = nil },
			want:  []string{"spec.containers: Required value"},
		},
		"a container has a name and an image": {
			given: container(func(c *corev1.Container) { c.Name, c.Image = "", "" }),
			want:  []string{"spec.containers[0].name: Required value", "spec.containers[0].image: Required value"},
		},
		"names of containers are unique, those of init containers as well": {
			given: func(pod *corev1.Pod) { pod.Spec.InitContainers = []corev1.Container{{Name: "c", Image: "i"}} },
			want:  []string{`spec.initContainers[0].name: Duplicate value: "c"`},
		},
		"a request is within its limit": {
			given: container(func(c *corev1.Container) {
				c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("2")}
				c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
			}),
			want: []string{`spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`},
		},
		"devices come whole and are limited to what is requested": {
			given: container(func(c *corev1.Container) {
				c.Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("500m")}
			}),
			want: []string{
				`spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer`,
				"spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
			},
		},
		"a name without a domain is one that is known": {
			given: container(func(c *corev1.Container) {
				c.Resources.Limits = corev1.ResourceList{"gpu": resource.MustParse("1")}
				c.Resources.Requests = corev1.ResourceList{}
			}),
			want: []string{
				`spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
				`spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
				`spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
				`spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
			},
		},
		"a variable has one source": {
			given: container(func(c *corev1.Container) {
				c.Env = []corev1.EnvVar{{Name: "A", Value: "x", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nothing"},
				}}}
			}),
			want: []string{
				`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nothing": error converting fieldPath: field label not supported: spec.nothing`,
				`spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when ` + "`value` is not empty",
			},
		},
		"what is mounted is a volume": {
			given: container(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}} }),
			want:  []string{`spec.containers[0].volumeMounts[0].name: Not found: "data"`},
		},
		"a volume has one source": {
			given: func(pod *corev1.Pod) {
				pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
					EmptyDir: &corev1.EmptyDirVolumeSource{}, Secret: &corev1.SecretVolumeSource{},
				}}}
			},
			want: []string{"spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"},
		},
		"a probe does one thing": {
			given: container(func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{SuccessThreshold: 2} }),
			want: []string{
				"spec.containers[0].livenessProbe: Required value: must specify a handler type",
				"spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
			},
		},
		"only sidecars among init containers are probed": {
			given: func(pod *corev1.Pod) {
				probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
				pod.Spec.InitContainers = []corev1.Container{
					{Name: "side", Image: "i", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), StartupProbe: probe},
					{Name: "init", Image: "i", StartupProbe: probe},
				}
			},
			want: []string{"spec.initContainers[1].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always"},
		},
		"a toleration of everything says so": {
			given: func(pod *corev1.Pod) {
				pod.Spec.Tolerations = []corev1.Toleration{{Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: new(int64(1))}}
			},
			want: []string{
				`spec.tolerations[0].operator: Invalid value: "": operator must be Exists when ` + "`key` is empty, which means \"match all values and all keys\"",
				`spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when ` + "`tolerationSeconds` is set",
			},
		},
		"node affinity has terms": {
			given: func(pod *corev1.Pod) {
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{},
				}}
			},
			want: []string{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term"},
		},
		"scheduling gates are unique names, and keep a pod off nodes": {
			given: func(pod *corev1.Pod) {
				pod.Spec.NodeName = "n"
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}}
			},
			want: []string{
				`spec.schedulingGates[1]: Duplicate value: "a"`,
				"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
			},
		},
		"a scheduling group is named": {
			given: func(pod *corev1.Pod) { pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
			want:  []string{"spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"},
		},
		"ephemeral containers come later": {
			given: func(pod *corev1.Pod) {
				pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "d", Image: "i"}}}
			},
			want: []string{"spec.ephemeralContainers: Forbidden: cannot be set on create"},
		},
		"metadata is worded as Kubernetes 1.36 words it": {
			given: func(pod *corev1.Pod) {
				pod.Finalizers = []string{"mine"}
				pod.OwnerReferences = []metav1.OwnerReference{{Name: "o", UID: "u"}}
			},
			want: []string{
				`metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty`,
				`metadata.ownerReferences.kind: Invalid value: "": must not be empty`,
				`metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := makePod(tc.given)
			before := pod.DeepCopy()
			require.Equal(t, strings.Join(tc.want, "\n"), lines(core.ValidatePod(pod, core.Options{})))
			require.Empty(t, cmp.Diff(before, pod), "validation must not change the pod (-want +got)")
		})
	}
}

func TestValidatePodTemplate(t *testing.T) {
	t.Parallel()
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: " spaced "}}}}
	template.Labels = map[string]string{"bad key": "v"}
	core.SetPodTemplateDefaults(template)
	errs := core.ValidatePodTemplate(template, field.NewPath("spec", "template"), core.Options{})
	require.Len(t, errs, 1, "white space round an image is held against pods alone: %s", lines(errs))
	require.Equal(t, "spec.template.labels", errs[0].Field)
}

func TestStoredTemplatesAreForgiven(t *testing.T) {
	t.Parallel()
	path := field.NewPath("template")
	spread := func(key string) *corev1.PodTemplateSpec {
		template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i"}},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: "v"}},
			}},
		}}
		core.SetPodTemplateDefaults(template)
		return template
	}
	bad := spread("bad key")
	require.NotEmpty(t, core.ValidatePodTemplate(bad, path, core.Options{}))
	require.NotEmpty(t, core.ValidatePodTemplateUpdate(bad, spread("good"), path, core.Options{}))
	require.Empty(t, core.ValidatePodTemplateUpdate(bad, bad, path, core.Options{}))
}
