package builder_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

func ExampleFromJob() {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "my-job", Namespace: "default", UID: "uid-123"},
		Spec: batchv1.JobSpec{
			Parallelism:    new(int32(4)),
			Completions:    new(int32(4)),
			CompletionMode: new(batchv1.IndexedCompletion),
		},
	}
	workload, err := builder.FromJob(job, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	template := workload.Spec.PodGroupTemplates[0]
	fmt.Println(workload.Name, template.Name, template.SchedulingPolicy.Gang.MinCount)

	// Once the API server has stored it, its PodGroup can be made.
	workload.UID = "uid-456"
	groups, err := builder.PodGroups(workload, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, owner := range groups[0].OwnerReferences {
		fmt.Println(groups[0].Name, "is owned by", owner.Kind, owner.Name)
	}
	// Output:
	// my-job-795ddf89fd my-job-pgt-0 4
	// my-job-795ddf89fd-my-job-pgt-0-74cffdfb57 is owned by Job my-job
	// my-job-795ddf89fd-my-job-pgt-0-74cffdfb57 is owned by Workload my-job-795ddf89fd
}

// What the API server would say of the objects of a Job can be had without one, once the defaults are set that it would
// set.
func ExampleFromJob_validation() {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "my-job", Namespace: "default", UID: "uid-123"},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(4)), Completions: new(int32(4)), CompletionMode: new(batchv1.IndexedCompletion),
		},
	}
	workload, err := builder.FromJob(job, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("Workload:", validation.ValidateWorkload(workload, features.Gates{})) // which has no defaults

	workload.UID = "uid-456" // as the API server gives it back
	groups, err := builder.PodGroups(workload, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	group := groups[0]
	fmt.Println("as built:", validation.ValidatePodGroup(group, features.Gates{}))
	schedulingv1alpha2.SetObjectDefaults_PodGroup(group)
	fmt.Println("with defaults:", validation.ValidatePodGroup(group, features.Gates{}))
	group.Spec.SchedulingPolicy.Gang.MinCount = 0
	fmt.Println("with a fault:", validation.ValidatePodGroup(group, features.Gates{}))
	// Output:
	// Workload: []
	// as built: [spec.disruptionMode: Required value]
	// with defaults: []
	// with a fault: [spec.schedulingPolicy.gang.minCount: Required value]
}

func ExampleEligible() {
	job := &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(4)), Completions: new(int32(8))}}
	ok, reason := builder.Eligible(job)
	fmt.Println(ok)
	fmt.Println(reason)
	// Output:
	// false
	// spec.completionMode is NonIndexed: a gang needs Indexed; spec.completions is 8 and spec.parallelism is 4: a gang needs both to be the same
}

// A machine-learning job has one driver, which is placed on its own, and workers that start together or not at all.
func ExampleNew() {
	owner := &metav1.ObjectMeta{Name: "train", Namespace: "default", UID: "uid-1"}
	kind := schema.GroupVersionKind{Group: "ml.example.com", Version: "v1", Kind: "TrainJob"}
	workers := builder.Gang("workers", 8)
	workers.DisruptionMode = new(schedulingv1alpha2.DisruptionModePodGroup)

	workload, err := builder.New(owner, kind, []schedulingv1alpha2.PodGroupTemplate{builder.Basic("driver"), workers}, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	workload.UID = "uid-2" // as the API server gives it back

	groups, err := builder.PodGroups(workload, builder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, group := range groups {
		policy := "basic"
		if gang := group.Spec.SchedulingPolicy.Gang; gang != nil {
			policy = fmt.Sprintf("gang of %d, disrupted by %s", gang.MinCount, *group.Spec.DisruptionMode)
		}
		fmt.Println(group.Name, policy)
	}
	// Output:
	// train-647cf7d9-driver-59c896794 basic
	// train-647cf7d9-workers-6b6bc57779 gang of 8, disrupted by PodGroup
}

func ExampleSetSchedulingGroup() {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "train-workers", Namespace: "default"}}
	template := corev1.PodTemplateSpec{}
	builder.SetSchedulingGroup(&template, group)
	fmt.Println(*template.Spec.SchedulingGroup.PodGroupName)
	// Output: train-workers
}
