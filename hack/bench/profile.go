package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files to write profiles to, each if it is named.
type profiles struct{ cpu, allocations string }

// start makes the files and begins the CPU profile. What it returns ends it and writes the profile of what was allocated. An
// error is one of the flags.
func (p profiles) start() (stop func() error, err error) {
	cpu, err := create("--cpu-profile", p.cpu)
	if err != nil {
		return nil, err
	}
	allocations, err := create("--alloc-profile", p.allocations)
	if err != nil {
		return nil, errors.Join(err, closeFile(cpu))
	}
	if cpu != nil {
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(fmt.Errorf("--cpu-profile %q: %w", p.cpu, err), closeFile(cpu), closeFile(allocations))
		}
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
		}
		return errors.Join(closeFile(cpu), writeAllocations(allocations))
	}, nil
}

// create makes the file that a flag names, if it names one.
func create(flag, name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Create(name)
	if reason, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s %q: %w: want a file that can be written", flag, name, reason.Err)
	}
	return file, err
}

func closeFile(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// writeAllocations writes the profile of what was allocated, if there is a file for it, and closes that.
func writeAllocations(file *os.File) error {
	if file == nil {
		return nil
	}
	runtime.GC() // the profile is as of the last collection
	err := pprof.Lookup("allocs").WriteTo(file, 0)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a profile of allocations: %w", err)
	}
	return nil
}
