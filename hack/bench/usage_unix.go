//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that the process has used so far, its own and the system's on its behalf.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
