// Package fakes holds the emulator beside what tests of controllers use in its place: the fake clients of client-go and of
// controller-runtime. Its tests show what each of them does as a cluster does, and its benchmarks what each costs:
//
//	go test -bench . -run '^$' .
//
// It is a module of its own because the library itself needs neither of them.
package fakes
