//go:build unix

package kubelet

import (
	"os"
	"syscall"
)

// ownGroup has a process lead a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// terminateGroup asks a group to end. That there is none any more is no error.
func terminateGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }

// killGroup ends a group.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// exitCode is the code that a process ended with: of one that a signal has ended, 128 and the signal's number.
func exitCode(state *os.ProcessState) int32 {
	if state == nil {
		return exitNotStarted
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(state.ExitCode())
}
