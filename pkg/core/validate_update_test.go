package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

func gated(pod *corev1.Pod) {
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "b"}}
}

func requireNode(keys ...string) *corev1.Affinity {
	term := corev1.NodeSelectorTerm{}
	for _, key := range keys {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
	}}
}

func TestValidatePodUpdate(t *testing.T) {
	t.Parallel()
	deadline := func(seconds int64) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = &seconds }
	}
	tolerate := func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))}}
	}
	const refused = "spec: Forbidden: pod updates may not change fields other than"
	cases := map[string]struct {
		before, change func(*corev1.Pod)
		// want is how each error begins.
		want []string
	}{
		"labels may change":       {change: func(pod *corev1.Pod) { pod.Labels = map[string]string{"a": "b"} }},
		"an image may change":     {change: container(func(c *corev1.Container) { c.Image = "other" })},
		"an image stays one":      {change: container(func(c *corev1.Container) { c.Image = "" }), want: []string{"spec.containers[0].image: Required value", "spec.containers[0].image: Required value"}},
		"a deadline may be set":   {change: deadline(10)},
		"a deadline comes closer": {before: deadline(10), change: deadline(5)},
		"a deadline does not move away": {
			before: deadline(10), change: deadline(11),
			want: []string{"spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value"},
		},
		"a deadline stays": {
			before: deadline(10), change: func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = nil },
			want: []string{"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"},
		},
		"tolerations may be added": {change: tolerate},
		"tolerations may last longer": {
			before: tolerate, change: func(pod *corev1.Pod) { pod.Spec.Tolerations[0].TolerationSeconds = new(int64(50)) },
		},
		"tolerations stay": {
			before: tolerate, change: func(pod *corev1.Pod) { pod.Spec.Tolerations = nil },
			want: []string{"spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"},
		},
		"gates may be removed": {before: gated, change: func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }},
		"gates are not added": {
			change: gated,
			want: []string{
				"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
				"spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
			},
		},
		"a gate that is added twice is named where it comes last": {
			change: func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}}
			},
			want: []string{
				`spec.schedulingGates[1]: Duplicate value: "a"`,
				"spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
			},
		},
		"a toleration that compares is with a number": {
			before: func(pod *corev1.Pod) {
				pod.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpLt, Value: "5"}}
			},
			change: func(pod *corev1.Pod) {
				pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "b", Operator: corev1.TolerationOpGt, Value: "05"})
			},
			want: []string{
				`spec.tolerations[1].value: Invalid value: "05": must be a valid decimal integer in canonical form`,
				`spec.tolerations[1].value: Invalid value: "05": must be a valid decimal integer in canonical form`,
			},
		},
		"a gated pod may ask for fewer nodes": {
			before: gated,
			change: func(pod *corev1.Pod) {
				pod.Spec.NodeSelector, pod.Spec.Affinity = map[string]string{"a": "b"}, requireNode("x")
			},
		},
		"a gated pod does not ask for other nodes": {
			before: func(pod *corev1.Pod) {
				gated(pod)
				pod.Spec.NodeSelector, pod.Spec.Affinity = map[string]string{"a": "b"}, requireNode("x")
			},
			change: func(pod *corev1.Pod) {
				pod.Spec.NodeSelector, pod.Spec.Affinity = map[string]string{"a": "c"}, requireNode("y", "x")
			},
			want: []string{
				`spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`,
				"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: ",
			},
		},
		"a pod that is not gated stays with its nodes": {
			change: func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"a": "b"} },
			want:   []string{refused},
		},
		"containers are not added": {
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "d", Image: "i"})
			},
			want: []string{"spec.containers: Forbidden: pod updates may not add or remove containers"},
		},
		"the group of a pod is fixed": {
			change: func(pod *corev1.Pod) {
				pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")}
			},
			want: []string{refused},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := makePod(func(pod *corev1.Pod) {
				if tc.before != nil {
					tc.before(pod)
				}
			})
			old.ResourceVersion = "5"
			pod := old.DeepCopy()
			tc.change(pod)
			core.SetPodDefaults(pod)
			core.PreparePodForUpdate(pod, old, features.Gates{})
			errs := core.ValidatePodUpdate(pod, old, core.Options{})
			require.Len(t, errs, len(tc.want), lines(errs))
			for i, err := range errs {
				require.Contains(t, err.Error(), tc.want[i])
			}
		})
	}
}

// A generation below zero, which only a stored pod can have, is at fault for what it is and not for how it changed.
func TestNegativeGenerationIsOneFault(t *testing.T) {
	t.Parallel()
	old := makePod()
	old.ResourceVersion, old.Generation = "5", -2
	require.Equal(t, "metadata.generation: Invalid value: -2: must be greater than or equal to 0",
		lines(core.ValidatePodUpdate(old, old, core.Options{})))
}

// TestRefusedUpdateShowsTheDifference holds the comparison against the way kube-apiserver prints it: by its internal
// types, in which the host's namespaces belong to the security context.
func TestRefusedUpdateShowsTheDifference(t *testing.T) {
	t.Parallel()
	old := makePod()
	old.ResourceVersion = "5"
	pod := old.DeepCopy()
	pod.Spec.HostPID = true
	pod.Spec.Hostname = "h"
	errs := core.ValidatePodUpdate(pod, old, core.Options{})
	require.Len(t, errs, 1)
	_, difference, found := strings.Cut(errs[0].Detail, "\n")
	require.True(t, found)
	assert.Equal(t, `@@ -45,7 +45,7 @@
  "NodeName": "",
  "SecurityContext": {
   "HostNetwork": false,
-  "HostPID": false,
+  "HostPID": true,
   "HostIPC": false,
   "ShareProcessNamespace": null,
   "HostUsers": null,
@@ -64,7 +64,7 @@
   "SELinuxChangePolicy": null
  },
  "ImagePullSecrets": null,
- "Hostname": "",
+ "Hostname": "h",
  "Subdomain": "",
  "SetHostnameAsFQDN": null,
  "Affinity": null,
`, difference)
}

func TestValidatePodStatusUpdate(t *testing.T) {
	t.Parallel()
	running := corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	const returned = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
	cases := map[string]struct {
		spec     func(*corev1.Pod)
		old, new corev1.PodStatus
		want     string
	}{
		"a container may end": {
			old: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}},
			new: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(1)}},
		},
		"a container that is never restarted stays ended": {
			spec: func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever },
			old:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(1)}},
			new:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}},
			want: returned,
		},
		"a container that failed may be restarted": {
			spec: func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure },
			old:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(1)}},
			new:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}},
		},
		"a container that succeeded is not restarted on failure": {
			spec: func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure },
			old:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(0)}},
			new:  corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}},
			want: returned,
		},
		"a rule of the container overrides the pod": {
			spec: func(pod *corev1.Pod) {
				pod.Spec.RestartPolicy = corev1.RestartPolicyNever
				c := &pod.Spec.Containers[0]
				c.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
				c.RestartPolicyRules = []corev1.ContainerRestartRule{{
					Action:    corev1.ContainerRestartRuleActionRestart,
					ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{7}},
				}}
			},
			old: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(7)}},
			new: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}},
		},
		"the quality of service class is fixed": {
			new:  corev1.PodStatus{QOSClass: corev1.PodQOSGuaranteed},
			want: `status.qosClass: Invalid value: "Guaranteed": field is immutable`,
		},
		"one address of each family": {
			new:  corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "10.0.0.2"}}},
			want: `status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family`,
		},
		"a condition of one's own is named as one": {
			new:  corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady}, {Type: "example.com/fine"}}},
			want: "",
		},
		"a bound pod is not nominated for another node": {
			spec: func(pod *corev1.Pod) { pod.Spec.NodeName = "n" },
			new:  corev1.PodStatus{NominatedNodeName: "other"},
			want: "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := makePod(func(pod *corev1.Pod) {
				if tc.spec != nil {
					tc.spec(pod)
				}
			})
			old.ResourceVersion = "5"
			class := old.Status.QOSClass
			old.Status = tc.old
			old.Status.QOSClass = class
			pod := old.DeepCopy()
			pod.Status = tc.new
			core.PreparePodForStatusUpdate(pod, old, features.Gates{})
			require.Equal(t, tc.want, lines(core.ValidatePodStatusUpdate(pod, old, core.Options{})))
		})
	}
}
