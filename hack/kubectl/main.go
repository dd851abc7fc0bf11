// Command kubectl is the kubectl of Kubernetes 1.36, built from its module, so that tests can drive a server with it
// on a machine that has only Go.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}
