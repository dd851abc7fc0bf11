package generate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod returns a pod that is to be created.
func (g *Generator) Pod() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: g.metadata(), Spec: g.podSpec()}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Spec.NodeName = ""
	}
	pod.Status = g.PodStatus(pod)
	return pod
}

// podSpec returns a pod's spec. Each part of it is left out more often than not.
func (g *Generator) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy: pick(g, "", corev1.RestartPolicyAlways, corev1.RestartPolicyNever,
			corev1.RestartPolicyOnFailure),
		TerminationGracePeriodSeconds: maybe(g, 0.2, number[int64](g, 0, 60)),
		ActiveDeadlineSeconds:         maybe(g, 0.1, number[int64](g, 1, 1000)),
		ServiceAccountName:            pick(g, "", "", "runner"),
		AutomountServiceAccountToken:  maybe(g, 0.1, of(g, true, false)),
		NodeName:                      pick(g, "", "", "", "node-1"),
		SchedulerName:                 pick(g, "", "", "default-scheduler", "other"),
		RuntimeClassName:              maybe(g, 0.05, g.name),
		EnableServiceLinks:            maybe(g, 0.1, of(g, true, false)),
		ReadinessGates: atTimes(g, 0.1, 1, 2,
			func(int) corev1.PodReadinessGate { return corev1.PodReadinessGate{ConditionType: "example.com/ready"} }),
		ImagePullSecrets: atTimes(g, 0.1, 1, 2,
			func(int) corev1.LocalObjectReference { return g.reference() }),
		SchedulingGroup: maybe(g, 0.15, func() corev1.PodSchedulingGroup {
			return corev1.PodSchedulingGroup{PodGroupName: new(g.name())}
		}),
	}
	g.addVolumes(&spec)
	g.addClaims(&spec)
	spec.Containers = some(g, 1, 2, func(i int) corev1.Container { return g.container(&spec, "c", i) })
	spec.InitContainers = atTimes(g, 0.2, 1, 2, func(i int) corev1.Container {
		container := g.container(&spec, "i", i)
		if g.Chance(0.5) {
			container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		} else {
			container.LivenessProbe, container.ReadinessProbe, container.StartupProbe, container.Lifecycle = nil, nil, nil, nil
		}
		return container
	})
	g.addPlacement(&spec)
	g.addNetwork(&spec)
	g.addSecurity(&spec)
	g.addResources(&spec)
	return spec
}

// atTimes returns a list of values with the given probability, and nil otherwise.
func atTimes[T any](g *Generator, probability float64, minimum, maximum int, value func(i int) T) []T {
	if !g.Chance(probability) {
		return nil
	}
	return some(g, minimum, maximum, value)
}

func (g *Generator) addClaims(spec *corev1.PodSpec) {
	spec.ResourceClaims = atTimes(g, 0.1, 1, 2, func(i int) corev1.PodResourceClaim {
		claim := corev1.PodResourceClaim{Name: g.uniqueName(i)}
		if g.Chance(0.5) {
			claim.ResourceClaimName = new(g.name())
		} else {
			claim.ResourceClaimTemplateName = new(g.name())
		}
		return claim
	})
}

// addPlacement says where a pod goes.
func (g *Generator) addPlacement(spec *corev1.PodSpec) {
	if g.Chance(0.15) {
		spec.NodeSelector = g.labels()
	}
	spec.Affinity = maybe(g, 0.15, g.affinity)
	spec.Tolerations = atTimes(g, 0.15, 1, 2, func(int) corev1.Toleration {
		if g.Chance(0.5) {
			return corev1.Toleration{Key: g.labelKey(), Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute, TolerationSeconds: maybe(g, 0.5, number[int64](g, 0, 60))}
		}
		return corev1.Toleration{Key: g.labelKey(), Operator: pick(g, "", corev1.TolerationOpEqual), Value: "a",
			Effect: pick(g, "", corev1.TaintEffectNoSchedule)}
	})
	spec.TopologySpreadConstraints = atTimes(g, 0.1, 1, 1, func(int) corev1.TopologySpreadConstraint {
		constraint := corev1.TopologySpreadConstraint{
			MaxSkew: number[int32](g, 1, 3)(), TopologyKey: g.labelKey(), WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector:      maybe(g, 0.8, func() metav1.LabelSelector { return *g.labelSelector() }),
			MinDomains:         maybe(g, 0.2, number[int32](g, 1, 3)),
			NodeAffinityPolicy: maybe(g, 0.2, of(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)),
			NodeTaintsPolicy:   maybe(g, 0.2, of(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)),
		}
		if constraint.LabelSelector != nil && g.Chance(0.3) {
			constraint.MatchLabelKeys = []string{"pod-template-hash"}
		}
		return constraint
	})
	spec.SchedulingGates = atTimes(g, 0.1, 1, 2,
		func(i int) corev1.PodSchedulingGate { return corev1.PodSchedulingGate{Name: g.uniqueName(i)} })
	spec.PreemptionPolicy = maybe(g, 0.1, of(g, corev1.PreemptLowerPriority, corev1.PreemptNever))
	spec.PriorityClassName = pick(g, "", "", "", "high", "system-node-critical")
	spec.Priority = maybe(g, 0.1, number[int32](g, 0, 1000))
}

func (g *Generator) affinity() corev1.Affinity {
	return corev1.Affinity{
		NodeAffinity: maybe(g, 0.5, func() corev1.NodeAffinity {
			return corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: maybe(g, 0.6, func() corev1.NodeSelector {
					return corev1.NodeSelector{NodeSelectorTerms: some(g, 1, 2,
						func(int) corev1.NodeSelectorTerm { return g.nodeTerm() })}
				}),
				PreferredDuringSchedulingIgnoredDuringExecution: atTimes(g, 0.4, 1, 2, func(int) corev1.PreferredSchedulingTerm {
					return corev1.PreferredSchedulingTerm{Weight: number[int32](g, 1, 100)(), Preference: g.nodeTerm()}
				}),
			}
		}),
		PodAffinity: maybe(g, 0.4, func() corev1.PodAffinity {
			return corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: some(g, 0, 2, g.podTerm)}
		}),
		PodAntiAffinity: maybe(g, 0.4, func() corev1.PodAntiAffinity {
			return corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: some(g, 0, 2,
				func(i int) corev1.WeightedPodAffinityTerm {
					return corev1.WeightedPodAffinityTerm{Weight: number[int32](g, 1, 100)(), PodAffinityTerm: g.podTerm(i)}
				})}
		}),
	}
}

func (g *Generator) nodeTerm() corev1.NodeSelectorTerm {
	term := corev1.NodeSelectorTerm{MatchExpressions: some(g, 1, 2, func(int) corev1.NodeSelectorRequirement {
		return pick(g,
			corev1.NodeSelectorRequirement{Key: g.labelKey(), Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
			corev1.NodeSelectorRequirement{Key: g.labelKey(), Operator: corev1.NodeSelectorOpExists},
			corev1.NodeSelectorRequirement{Key: g.labelKey(), Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}},
		)
	})}
	if g.Chance(0.2) {
		term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn,
			Values: []string{"node-1"}}}
	}
	return term
}

func (g *Generator) podTerm(int) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{
		LabelSelector: maybe(g, 0.8, func() metav1.LabelSelector { return *g.labelSelector() }), TopologyKey: g.labelKey(),
		Namespaces:        atTimes(g, 0.2, 1, 2, func(int) string { return g.name() }),
		NamespaceSelector: maybe(g, 0.2, func() metav1.LabelSelector { return *g.labelSelector() }),
	}
	if term.LabelSelector != nil && g.Chance(0.2) {
		term.MatchLabelKeys = []string{"pod-template-hash"}
		term.MismatchLabelKeys = pick(g, nil, []string{"tenant"})
	}
	return term
}

func (g *Generator) addNetwork(spec *corev1.PodSpec) {
	spec.Hostname, spec.Subdomain = pick(g, "", "", "", "host-a"), pick(g, "", "", "", "sub")
	spec.SetHostnameAsFQDN = maybe(g, 0.05, of(g, true, false))
	spec.HostNetwork = g.Chance(0.05)
	if spec.HostNetwork {
		for i := range spec.Containers {
			for j := range spec.Containers[i].Ports {
				spec.Containers[i].Ports[j].HostPort = spec.Containers[i].Ports[j].ContainerPort
			}
		}
	}
	spec.DNSPolicy = pick(g, "", "", corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSClusterFirstWithHostNet)
	spec.DNSConfig = maybe(g, 0.1, func() corev1.PodDNSConfig {
		return corev1.PodDNSConfig{
			Nameservers: some(g, 0, 2, func(int) string { return pick(g, "1.2.3.4", "::1") }),
			Searches:    some(g, 0, 2, func(int) string { return pick(g, "example.com", "a.svc.", ".") }),
			Options: some(g, 0, 1, func(int) corev1.PodDNSConfigOption {
				return corev1.PodDNSConfigOption{Name: "ndots", Value: maybe(g, 0.5, of(g, "2"))}
			}),
		}
	})
	spec.HostAliases = atTimes(g, 0.1, 1, 2, func(int) corev1.HostAlias {
		return corev1.HostAlias{IP: pick(g, "1.2.3.4", "::1"), Hostnames: []string{"a.example.com", "b"}}
	})
	if g.Chance(0.05) && !spec.HostNetwork {
		spec.HostnameOverride, spec.SetHostnameAsFQDN = new("over.example.com"), nil
	}
}

func (g *Generator) addSecurity(spec *corev1.PodSpec) {
	spec.HostPID, spec.HostIPC = g.Chance(0.03), g.Chance(0.03)
	if !spec.HostPID {
		spec.ShareProcessNamespace = maybe(g, 0.05, of(g, true, false))
	}
	spec.HostUsers = maybe(g, 0.05, of(g, true, true, !spec.HostNetwork && !spec.HostPID && !spec.HostIPC))
	spec.OS = maybe(g, 0.1, func() corev1.PodOS { return corev1.PodOS{Name: pick(g, corev1.Linux, corev1.Linux, corev1.Windows)} })
	spec.SecurityContext = maybe(g, 0.15, func() corev1.PodSecurityContext {
		return corev1.PodSecurityContext{
			RunAsUser: maybe(g, 0.3, number[int64](g, 0, 1000)), RunAsGroup: maybe(g, 0.3, number[int64](g, 0, 1000)),
			RunAsNonRoot: maybe(g, 0.2, of(g, true, false)),
			FSGroup:      maybe(g, 0.2, number[int64](g, 0, 1000)), SupplementalGroups: some(g, 0, 2, func(int) int64 { return 5 }),
			SupplementalGroupsPolicy: maybe(g, 0.1,
				of(g, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)),
			FSGroupChangePolicy: maybe(g, 0.1, of(g, corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways)),
			SELinuxChangePolicy: maybe(g, 0.1,
				of(g, corev1.SELinuxChangePolicyRecursive, corev1.SELinuxChangePolicyMountOption)),
			Sysctls: some(g, 0, 1,
				func(int) corev1.Sysctl { return corev1.Sysctl{Name: "kernel.shm_rmid_forced", Value: "1"} }),
			SeccompProfile: maybe(g, 0.2, g.seccomp), AppArmorProfile: maybe(g, 0.2, g.appArmor),
			SELinuxOptions: maybe(g, 0.1, of(g, corev1.SELinuxOptions{Level: "s0:c1"})),
			WindowsOptions: maybe(g, 0.05, of(g, corev1.WindowsSecurityContextOptions{RunAsUserName: new("ContainerUser")})),
		}
	})
}

func (g *Generator) seccomp() corev1.SeccompProfile {
	return pick(g, corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("a/b.json")})
}

func (g *Generator) appArmor() corev1.AppArmorProfile {
	return pick(g, corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined},
		corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("mine")})
}
