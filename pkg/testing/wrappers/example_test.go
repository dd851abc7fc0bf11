package wrappers_test

import (
	"fmt"

	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

func Example() {
	gang := wrappers.MakeJob("training", "default").Indexed(4)
	fmt.Println(builder.Eligible(gang.Clone().Parallelism(2).Obj()))
	workload, err := builder.FromJob(gang.UID("8e1f").Obj(), builder.Options{})
	fmt.Println(workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount, err)
	// Output:
	// false spec.completions is 4 and spec.parallelism is 2: a gang needs both to be the same
	// 4 <nil>
}
