package scheme

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

const (
	// keptRevisions is how many old revisions workloads keep that do not say.
	keptRevisions = 10
	// progressSeconds is how long a Deployment may make no progress.
	progressSeconds = 600
)

// registerWorkloadDefaults registers the defaults of what makes pods from templates.
func registerWorkloadDefaults(s *runtime.Scheme) {
	addDefaults(s, func(d *appsv1.Deployment) {
		prune(d)
		setTemplateDefaults(&d.Spec.Template)
		setDeploymentDefaults(&d.Spec)
	})
	addDefaults(s, func(r *appsv1.ReplicaSet) {
		prune(r)
		setTemplateDefaults(&r.Spec.Template)
		setIfNil(&r.Spec.Replicas, 1)
	})
	addDefaults(s, func(d *appsv1.DaemonSet) {
		prune(d)
		// A field of the internal type that no client can set, which apps/v1 shows as an annotation.
		if _, found := d.Annotations[appsv1.DeprecatedTemplateGeneration]; !found {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, appsv1.DeprecatedTemplateGeneration, "0")
		}
		setTemplateDefaults(&d.Spec.Template)
		setDaemonSetDefaults(&d.Spec)
	})
	addDefaults(s, func(set *appsv1.StatefulSet) {
		prune(set)
		setTemplateDefaults(&set.Spec.Template)
		setStatefulSetDefaults(&set.Spec)
	})
	addDefaults(s, func(r *corev1.ReplicationController) {
		prune(r)
		setReplicationControllerDefaults(r)
	})
	addDefaults(s, func(t *corev1.PodTemplate) {
		prune(t)
		setTemplateDefaults(&t.Template)
	})
	addDefaults(s, func(c *batchv1.CronJob) {
		prune(c)
		resolvePodSpecAliases(&c.Spec.JobTemplate.Spec.Template.Spec)
		batch.SetTemplateDefaults(&c.Spec.JobTemplate.Spec)
		setCronJobDefaults(&c.Spec)
	})
	addDefaults(s, func(h *autoscalingv2.HorizontalPodAutoscaler) {
		prune(h)
		setAutoscalerDefaults(&h.Spec)
	})
}

func setIfNil[V any](at **V, value V) {
	if *at == nil {
		*at = &value
	}
}

func setTemplateDefaults(template *corev1.PodTemplateSpec) {
	resolvePodSpecAliases(&template.Spec)
	core.SetPodTemplateDefaults(template)
}

func setDeploymentDefaults(spec *appsv1.DeploymentSpec) {
	setIfNil(&spec.Replicas, 1)
	strategy := &spec.Strategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setIfNil(&strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setIfNil(&strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setIfNil(&strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setIfNil(&spec.RevisionHistoryLimit, keptRevisions)
	setIfNil(&spec.ProgressDeadlineSeconds, progressSeconds)
}

func setDaemonSetDefaults(spec *appsv1.DaemonSetSpec) {
	strategy := &spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setIfNil(&strategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setIfNil(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setIfNil(&strategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setIfNil(&spec.RevisionHistoryLimit, keptRevisions)
}

func setStatefulSetDefaults(spec *appsv1.StatefulSetSpec) {
	if spec.PodManagementPolicy == "" {
		spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	strategy := &spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setIfNil(&strategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && strategy.RollingUpdate != nil {
		setIfNil(&strategy.RollingUpdate.Partition, 0)
	}
	setIfNil(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	kept := spec.PersistentVolumeClaimRetentionPolicy
	if kept.WhenDeleted == "" {
		kept.WhenDeleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if kept.WhenScaled == "" {
		kept.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	setIfNil(&spec.Replicas, 1)
	setIfNil(&spec.RevisionHistoryLimit, keptRevisions)
	for i := range spec.VolumeClaimTemplates {
		claim := &spec.VolumeClaimTemplates[i]
		if claim.APIVersion == "" && claim.Kind == "" {
			claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
		}
		setClaimDefaults(claim)
	}
}

// setReplicationControllerDefaults takes selector and labels from the template.
func setReplicationControllerDefaults(r *corev1.ReplicationController) {
	setIfNil(&r.Spec.Replicas, 1)
	if r.Spec.Template == nil {
		return
	}
	setTemplateDefaults(r.Spec.Template)
	if labels := r.Spec.Template.Labels; labels != nil {
		if len(r.Spec.Selector) == 0 {
			r.Spec.Selector = labels
		}
		if len(r.Labels) == 0 {
			r.Labels = labels
		}
	}
}

func setCronJobDefaults(spec *batchv1.CronJobSpec) {
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	setIfNil(&spec.Suspend, false)
	setIfNil(&spec.SuccessfulJobsHistoryLimit, 3)
	setIfNil(&spec.FailedJobsHistoryLimit, 1)
}

// setAutoscalerDefaults lets an autoscaler look at the CPU when nothing else is named, and completes its rules if it has
// any.
func setAutoscalerDefaults(spec *autoscalingv2.HorizontalPodAutoscalerSpec) {
	const period = 15
	setIfNil(&spec.MinReplicas, 1)
	if len(spec.Metrics) == 0 {
		spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
			},
		}}
	}
	if spec.Behavior == nil {
		return
	}
	setIfNil(&spec.Behavior.ScaleUp, autoscalingv2.HPAScalingRules{})
	setIfNil(&spec.Behavior.ScaleDown, autoscalingv2.HPAScalingRules{})
	up, down := spec.Behavior.ScaleUp, spec.Behavior.ScaleDown
	setIfNil(&up.StabilizationWindowSeconds, 0)
	setIfNil(&up.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	setIfNil(&down.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	all := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: period}
	if up.Policies == nil {
		up.Policies = []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: period}, all}
	}
	if down.Policies == nil {
		down.Policies = []autoscalingv2.HPAScalingPolicy{all}
	}
}
