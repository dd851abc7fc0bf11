package controller

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
	"github.com/musterkube/muster/pkg/builder"
)

// The labels of pods, and what keeps a pod until its end is written down.
const (
	labelRun     = "training.example.com/run"
	labelMember  = "training.example.com/member"
	labelAttempt = "training.example.com/attempt"
	finalizer    = "training.example.com/tracking"
)

// The templates of the Workload, which are also the names of the groups.
const (
	driverTemplate  = "driver"
	workersTemplate = "workers"
)

// member is one pod of the run, with all of its attempts.
type member struct {
	name     string
	group    string
	template *corev1.PodTemplateSpec
}

// membersOf returns the driver and the workers.
func membersOf(run *trainingv1.TrainingRun) []member {
	all := []member{{name: "driver", group: driverTemplate, template: &run.Spec.Driver.Template}}
	for i := range run.Spec.Workers.Replicas {
		all = append(all, member{name: "worker-" + strconv.Itoa(int(i)), group: workersTemplate, template: &run.Spec.Workers.Template})
	}
	return all
}

// newWorkload makes the Workload of a run. The driver is a gang of one: the scheduler then says of it, too, whether it has
// found room.
func newWorkload(run *trainingv1.TrainingRun) (*schedulingv1alpha2.Workload, error) {
	templates := []schedulingv1alpha2.PodGroupTemplate{
		builder.Gang(driverTemplate, 1),
		builder.Gang(workersTemplate, run.Spec.Workers.Replicas),
	}
	return builder.New(run, trainingv1.Kind, templates, builder.Options{})
}

// newPod makes the pod of one attempt of a member.
func newPod(run *trainingv1.TrainingRun, m member, attempt int32, group *schedulingv1alpha2.PodGroup) *corev1.Pod {
	template := m.template.DeepCopy()
	builder.SetSchedulingGroup(template, group)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(run, m, attempt), Namespace: run.Namespace,
			Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, trainingv1.Kind)},
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[labelRun], pod.Labels[labelMember], pod.Labels[labelAttempt] = run.Name, m.name, strconv.Itoa(int(attempt))
	controllerutil.AddFinalizer(pod, finalizer)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever // attempts are counted here, and nowhere else
	return pod
}

// podName has the beginning of the run's UID in it, so that a run which is made anew has pods of its own.
func podName(run *trainingv1.TrainingRun, m member, attempt int32) string {
	return fmt.Sprintf("%s-%.5s-%s-%d", run.Name, run.UID, m.name, attempt)
}

// memberOf reads which member's pod this is, and which attempt.
func memberOf(pod *corev1.Pod) (name string, attempt int32, ok bool) {
	number, err := strconv.ParseInt(pod.Labels[labelAttempt], 10, 32)
	return pod.Labels[labelMember], int32(number), err == nil && pod.Labels[labelMember] != ""
}
