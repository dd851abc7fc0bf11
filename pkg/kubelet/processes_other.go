//go:build !unix

package kubelet

import (
	"os"
	"syscall"
)

// ownGroup has no effect here.
func ownGroup() *syscall.SysProcAttr { return nil }

// terminateGroup kills the process: it cannot be asked.
func terminateGroup(leader int) { killGroup(leader) }

// killGroup kills the process. That there is none any more is no error.
func killGroup(leader int) {
	if found, err := os.FindProcess(leader); err == nil {
		_ = found.Kill()
	}
}

// exitCode is the code that a process ended with.
func exitCode(state *os.ProcessState) int32 {
	if state == nil {
		return exitNotStarted
	}
	return int32(state.ExitCode())
}
