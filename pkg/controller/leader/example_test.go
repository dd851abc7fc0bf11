package leader_test

import (
	"context"
	"fmt"

	"github.com/musterkube/muster/pkg/controller/leader"
	"github.com/musterkube/muster/pkg/emulator"
)

func ExampleRun() {
	ctx := context.Background()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		panic(err)
	}
	defer server.Stop()

	err = leader.Run(ctx, server.Config(), leader.Options{Name: "my-controller"}, func(context.Context) error {
		fmt.Println("working")
		return nil
	})
	fmt.Println(err)
	// Output:
	// working
	// <nil>
}
