package nodelifecycle_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
)

// A controller is made for the API server of a configuration, and runs until its context ends.
func ExampleNew() {
	controller, err := nodelifecycle.New(&rest.Config{Host: "https://cluster.example"}, nodelifecycle.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // as a program does that is told to stop
	fmt.Println(controller.Run(ctx))

	_, err = nodelifecycle.New(&rest.Config{}, nodelifecycle.Options{GracePeriod: -1})
	fmt.Println(err)
	// Output:
	// <nil>
	// making a node lifecycle controller: Options.GracePeriod: Invalid value: "-1ns": must not be negative
}
