//go:build !unix

package kubelet_test

import (
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// The second of the default handlers sleeps until a moment of the process's own clock, which to a bubble is decades
	// away.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}
