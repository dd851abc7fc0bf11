package etcdmem

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// TestMain silences klog, as the conformance suite provokes errors that the store logs, and lets errors be reported in
// virtual time.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	// The second handler slows errors down by the time since the last one anywhere in the process, which never ends when
	// that was outside a bubble of virtual time and this one is within.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}
