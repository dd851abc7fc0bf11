package podgc_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/podgc"
)

// A controller is made for the API server of a configuration, and runs until its context ends.
func ExampleNew() {
	controller, err := podgc.New(&rest.Config{Host: "https://cluster.example"}, podgc.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // as a program does that is told to stop
	fmt.Println(controller.Run(ctx))

	_, err = podgc.New(&rest.Config{}, podgc.Options{Quarantine: -1})
	fmt.Println(err)
	// Output:
	// <nil>
	// making a pod garbage collector: Options.Quarantine: Invalid value: "-1ns": must not be negative
}
