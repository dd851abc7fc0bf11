package guard

import (
	"errors"
	"sync/atomic"
)

// Exclusive lets one caller at a time run a component. The zero value is ready.
type Exclusive struct{ busy atomic.Bool }

// Enter begins a run, whose end is to be told by calling leave. While another one goes on it returns an error instead, which
// begins with what was to be done, such as "running the job controller".
func (e *Exclusive) Enter(doing string) (leave func(), err error) {
	if !e.busy.CompareAndSwap(false, true) {
		return nil, errors.New(doing + ": it runs already, and not twice at a time")
	}
	return func() { e.busy.Store(false) }, nil
}

// Once lets a component be run a single time. The zero value is ready.
type Once struct{ begun atomic.Bool }

// Enter begins the run. Later calls return an error instead, which begins with what was to be done.
func (o *Once) Enter(doing string) error {
	if !o.begun.CompareAndSwap(false, true) {
		return errors.New(doing + ": it runs already or has run: make another one with New")
	}
	return nil
}
