package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files to write profiles to, each if it is named.
type profiles struct{ cpu, allocations string }

// start begins the CPU profile. What it returns ends it and writes the profile of what was allocated.
func (p profiles) start() (stop func() error, err error) {
	if p.cpu == "" {
		return p.writeAllocations, nil
	}
	file, err := os.Create(p.cpu)
	if err != nil {
		return nil, fmt.Errorf("writing a CPU profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("writing a CPU profile: %w", errors.Join(err, file.Close()))
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(file.Close(), p.writeAllocations())
	}, nil
}

func (p profiles) writeAllocations() error {
	if p.allocations == "" {
		return nil
	}
	file, err := os.Create(p.allocations)
	if err != nil {
		return fmt.Errorf("writing a profile of allocations: %w", err)
	}
	runtime.GC() // the profile is as of the last collection
	err = pprof.Lookup("allocs").WriteTo(file, 0)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a profile of allocations: %w", err)
	}
	return nil
}
