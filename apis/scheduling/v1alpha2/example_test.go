package v1alpha2_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// A scheme of one's own learns the kinds and their defaults.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha2.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}

	group := &schedulingv1alpha2.PodGroup{}
	scheme.Default(group)
	kinds, _, err := scheme.ObjectKinds(group)
	fmt.Println(kinds, *group.Spec.DisruptionMode, err)
	// Output: [scheduling.k8s.io/v1alpha2, Kind=PodGroup] Pod <nil>
}

// A Workload for four pods that start together or not at all.
func ExampleWorkload() {
	workload := schedulingv1alpha2.Workload{
		TypeMeta: metav1.TypeMeta{
			APIVersion: schedulingv1alpha2.SchemeGroupVersion.String(),
			Kind:       "Workload",
		},
		ObjectMeta: metav1.ObjectMeta{Namespace: "research", Name: "train"},
		Spec: schedulingv1alpha2.WorkloadSpec{
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
				Name: "workers",
				SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
					Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4},
				},
			}},
		},
	}
	text, err := yaml.Marshal(workload)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// apiVersion: scheduling.k8s.io/v1alpha2
	// kind: Workload
	// metadata:
	//   name: train
	//   namespace: research
	// spec:
	//   podGroupTemplates:
	//   - name: workers
	//     schedulingConstraints: null
	//     schedulingPolicy:
	//       gang:
	//         minCount: 4
}
