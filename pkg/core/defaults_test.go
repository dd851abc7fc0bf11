package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/musterkube/muster/pkg/core"
)

func TestPullPolicyFollowsTheTag(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	cases := map[string]corev1.PullPolicy{
		"busybox":                          corev1.PullAlways,
		"busybox:latest":                   corev1.PullAlways,
		"busybox:1.36":                     corev1.PullIfNotPresent,
		"registry.example.com/a/b":         corev1.PullAlways,
		"registry.example.com:5000/a/b":    corev1.PullAlways,
		"registry.example.com:5000/a/b:v1": corev1.PullIfNotPresent,
		"localhost/a":                      corev1.PullAlways,
		"[2001:db8::1]:5000/a":             corev1.PullAlways,
		"busybox" + digest:                 corev1.PullIfNotPresent,
		"busybox:latest" + digest:          corev1.PullAlways,
		"busybox@sha256:aaaa":              corev1.PullIfNotPresent,
		"Busybox":                          corev1.PullIfNotPresent,
		"docker.io/Lib/busybox":            corev1.PullIfNotPresent,
		"":                                 corev1.PullIfNotPresent,
		"busy box":                         corev1.PullIfNotPresent,
		digest[len("@sha256:"):]:           corev1.PullIfNotPresent,
	}
	for image, want := range cases {
		spec := corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}
		core.SetPodSpecDefaults(&spec)
		assert.Equal(t, want, spec.Containers[0].ImagePullPolicy, "image %q", image)
	}
}

func TestSetPodDefaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given corev1.PodSpec
		check func(*testing.T, *corev1.PodSpec)
	}{
		"a pod that says nothing": {
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, corev1.RestartPolicyAlways, spec.RestartPolicy)
				assert.Equal(t, corev1.DNSClusterFirst, spec.DNSPolicy)
				assert.Equal(t, corev1.DefaultSchedulerName, spec.SchedulerName)
				assert.Equal(t, &corev1.PodSecurityContext{}, spec.SecurityContext)
				assert.Equal(t, int64(30), *spec.TerminationGracePeriodSeconds)
				assert.True(t, *spec.EnableServiceLinks)
				assert.Empty(t, spec.Tolerations)
			},
		},
		"requests follow limits": {
			given: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")},
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")},
			}}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				requests := spec.Containers[0].Resources.Requests
				assert.Equal(t, "100m", requests.Cpu().String())
				assert.Equal(t, "1Gi", requests.Memory().String())
			},
		},
		"amounts are kept to thousandths": {
			given: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{"cpu": resource.MustParse("100001n")},
			}}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, "1m", spec.Containers[0].Resources.Limits.Cpu().String())
			},
		},
		"on the host's network ports are the host's": {
			given: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, corev1.ContainerPort{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}, spec.Containers[0].Ports[0])
			},
		},
		"probes and hooks": {
			given: corev1.PodSpec{Containers: []corev1.Container{{
				LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(1)}}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}, PeriodSeconds: 3},
				Lifecycle:      &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{}}},
			}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				c := spec.Containers[0]
				assert.Equal(t, "/", c.LivenessProbe.HTTPGet.Path)
				assert.Equal(t, corev1.URISchemeHTTP, c.LivenessProbe.HTTPGet.Scheme)
				assert.Equal(t, []int32{1, 10, 1, 3}, []int32{
					c.LivenessProbe.TimeoutSeconds, c.LivenessProbe.PeriodSeconds, c.LivenessProbe.SuccessThreshold, c.LivenessProbe.FailureThreshold,
				})
				assert.Equal(t, int32(3), c.ReadinessProbe.PeriodSeconds)
				assert.Empty(t, *c.ReadinessProbe.GRPC.Service)
				assert.Equal(t, "/", c.Lifecycle.PreStop.HTTPGet.Path)
			},
		},
		"volumes": {
			given: corev1.PodSpec{Volumes: []corev1.Volume{
				{Name: "nothing"},
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}},
				{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
					Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}},
				}}},
			}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.NotNil(t, spec.Volumes[0].EmptyDir)
				assert.Equal(t, int32(0o644), *spec.Volumes[1].ConfigMap.DefaultMode)
				assert.Equal(t, corev1.HostPathUnset, *spec.Volumes[2].HostPath.Type)
				assert.Equal(t, int64(3600), *spec.Volumes[3].Projected.Sources[0].ServiceAccountToken.ExpirationSeconds)
			},
		},
		"a field of the pod is read by version v1": {
			given: corev1.PodSpec{Containers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			}}}}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, "v1", spec.Containers[0].Env[0].ValueFrom.FieldRef.APIVersion)
			},
		},
		"resources of the whole pod follow those of its containers, and its limits": {
			given: corev1.PodSpec{
				Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("1Gi")}},
				Containers: []corev1.Container{
					{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}},
					{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}}},
				},
			},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, "1500m", spec.Resources.Requests.Cpu().String())
				assert.Equal(t, "1Gi", spec.Resources.Requests.Memory().String())
			},
		},
		"older spellings agree with newer ones": {
			given: corev1.PodSpec{DeprecatedServiceAccount: "old", TerminationGracePeriodSeconds: new(int64(-7))},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, "old", spec.ServiceAccountName)
				assert.Equal(t, int64(1), *spec.TerminationGracePeriodSeconds)
			},
		},
		"ephemeral containers": {
			given: corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "debug:v1"},
			}}},
			check: func(t *testing.T, spec *corev1.PodSpec) {
				assert.Equal(t, corev1.PullIfNotPresent, spec.EphemeralContainers[0].ImagePullPolicy)
				assert.Equal(t, corev1.TerminationMessageReadFile, spec.EphemeralContainers[0].TerminationMessagePolicy)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: tc.given}
			core.SetPodDefaults(pod)
			tc.check(t, &pod.Spec)
			again := pod.DeepCopy()
			core.SetPodDefaults(again)
			require.Empty(t, cmp.Diff(pod, again), "defaults must not build on each other (-want +got)")
		})
	}
}

func TestTemplatesGetLessThanPods(t *testing.T) {
	t.Parallel()
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(-7)),
		Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{"cpu": resource.MustParse("1")},
		}}},
	}}
	core.SetPodTemplateDefaults(template)
	assert.Nil(t, template.Spec.EnableServiceLinks)
	assert.Nil(t, template.Spec.Containers[0].Resources.Requests)
	assert.Equal(t, int64(-7), *template.Spec.TerminationGracePeriodSeconds)
	assert.Equal(t, corev1.RestartPolicyAlways, template.Spec.RestartPolicy)
}

func TestPodIPsAgree(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}, {IP: "::1"}}}}
	core.SetPodDefaults(pod)
	assert.Equal(t, []corev1.PodIP{{IP: "10.0.0.1"}}, pod.Status.PodIPs, "podIP wins")
	pod.Status = corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}}}
	core.SetPodDefaults(pod)
	assert.Equal(t, "10.0.0.2", pod.Status.PodIP)
}

func TestOldAnnotationsOfInitContainersGo(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{"pod.beta.kubernetes.io/init-containers": "[]", "mine": "x"}
	pod := &corev1.Pod{}
	pod.Annotations = annotations
	core.SetPodDefaults(pod)
	assert.Equal(t, map[string]string{"mine": "x"}, pod.Annotations)
	assert.Len(t, annotations, 2, "the map that was given is someone else's")
}
