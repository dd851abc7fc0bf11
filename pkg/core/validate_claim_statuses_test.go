package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

func TestValidateClaimsInStatus(t *testing.T) {
	t.Parallel()
	mapping := corev1.ContainerExtendedResourceRequest{ContainerName: "c", ResourceName: "example.com/gpu", RequestName: "r"}
	for name, tc := range map[string]struct {
		given corev1.PodStatus
		want  []string
	}{
		"a claim of the spec": {given: corev1.PodStatus{
			ResourceClaimStatuses: []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("gpu-1")}},
		}},
		"a claim that is not of the spec, twice": {
			given: corev1.PodStatus{ResourceClaimStatuses: []corev1.PodResourceClaimStatus{{Name: "x"}, {Name: "x", ResourceClaimName: new("gpu.1")}}},
			want: []string{
				"resourceClaimStatuses[0].name: Invalid value: \"x\": must match the name of an entry in `spec.resourceClaims`",
				"resourceClaimStatuses[1].name: Invalid value: \"x\": must match the name of an entry in `spec.resourceClaims`",
				`resourceClaimStatuses[1].name: Duplicate value: "x"`,
			},
		},
		"a claim for an extended resource that a container requests": {given: corev1.PodStatus{
			ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{
				ResourceClaimName: "gpu-1", RequestMappings: []corev1.ContainerExtendedResourceRequest{mapping},
			},
		}},
		"a claim for nothing": {
			given: corev1.PodStatus{ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{}},
			want: []string{
				"extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required",
				"extendedResourceClaimStatus.resourceClaimName: Required value",
			},
		},
		"a claim for what no container requests": {
			given: corev1.PodStatus{ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{
				ResourceClaimName: "gpu-1", RequestMappings: []corev1.ContainerExtendedResourceRequest{
					{ContainerName: "c", ResourceName: "example.com/fpga", RequestName: "r"}, {ContainerName: "d", RequestName: "r"},
				},
			}},
			want: []string{
				`extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "example.com/fpga": must match the extended ` +
					"resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
				`extendedResourceClaimStatus.requestMappings[1].containerName: Invalid value: "d": ` +
					"must match the name of an entry in spec.initContainers.name or spec.containers.name",
			},
		},
		"a request that is mapped twice": {
			given: corev1.PodStatus{ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{
				ResourceClaimName: "gpu-1", RequestMappings: []corev1.ContainerExtendedResourceRequest{mapping, mapping},
			}},
			want: []string{
				`extendedResourceClaimStatus.requestMappings[1].containerName: Duplicate value: "c"`,
				`extendedResourceClaimStatus.requestMappings[1].resourceName: Duplicate value: "example.com/gpu"`,
				`extendedResourceClaimStatus.requestMappings[1].requestName: Duplicate value: "r"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := makePod(func(pod *corev1.Pod) {
				pod.ResourceVersion = "5"
				pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("g")}}
				pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
			})
			pod := old.DeepCopy()
			pod.Status = tc.given
			core.PreparePodForStatusUpdate(pod, old, features.Gates{})
			var want []string
			for _, line := range tc.want {
				want = append(want, "status."+line)
			}
			assert.Equal(t, strings.Join(want, "\n"), lines(core.ValidatePodStatusUpdate(pod, old, core.Options{})))
		})
	}
}

func TestPodStatusWarnings(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Status: corev1.PodStatus{
		PodIPs:  []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00:0::1"}, {IP: "no address"}},
		HostIPs: []corev1.HostIP{{IP: "010.0.0.1"}},
	}}
	assert.Equal(t, []string{
		`status.podIPs[1].ip: IPv6 address "fd00:0::1" should be in RFC 5952 canonical format ("fd00::1")`,
		`status.hostIPs[0].ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
	}, core.PodStatusWarnings(pod))
}
