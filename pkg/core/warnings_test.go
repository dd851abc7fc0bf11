package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

func TestPodWarnings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given func(*corev1.Pod)
		want  []string
	}{
		"a plain pod gives none": {given: func(*corev1.Pod) {}},
		"a label of nodes is old": {
			given: func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/os": "linux"} },
			want:  []string{`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`},
		},
		"a variable hides another one": {
			given: container(func(c *corev1.Container) {
				c.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "$(A)2"}, {Name: "A", Value: "3"}}
			}),
			want: []string{`spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply`},
		},
		"ports are defined twice": {
			given: container(func(c *corev1.Container) {
				c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}, {Name: "http", ContainerPort: 80, HostPort: 8080, HostIP: "10.0.0.1"}}
			}),
			want: []string{
				"spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
				`spec.containers[0].ports[1]: duplicate port name "http" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]`,
			},
		},
		"files stand in each other's way": {
			given: func(pod *corev1.Pod) {
				pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "config"},
					Items:                []corev1.KeyToPath{{Key: "a", Path: "dir"}, {Key: "b", Path: "dir/file"}},
				}}}}
			},
			want: []string{`volume "v" (ConfigMap "config"): overlapping paths: "dir/file" with "dir"`},
		},
		"a name is no label": {
			given: func(pod *corev1.Pod) { pod.Name = "with.dot" },
			want: []string{"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; " +
				"a DNS label is recommended: [must not contain dots]"},
		},
		"an address is spelt in its own way": {
			given: func(pod *corev1.Pod) {
				pod.Spec.HostAliases = []corev1.HostAlias{{IP: "2001:DB8::1"}, {IP: "2001:DB8::1"}}
			},
			want: []string{
				`spec.hostAliases[1].ip: duplicate ip "2001:DB8::1"`,
				`spec.hostAliases[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
				`spec.hostAliases[1].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, core.PodWarnings(makePod(tc.given)))
		})
	}
}

func TestTemplateWarnings(t *testing.T) {
	t.Parallel()
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(-1))}}
	assert.Equal(t, []string{"spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"},
		core.TemplateWarnings(template, field.NewPath("spec", "template")))
}
