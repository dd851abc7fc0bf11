package check

import (
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Option returns the path of an option, from the name of its Go field and of those below it: Options.Workers.
func Option(name string, below ...string) *field.Path {
	return field.NewPath("Options", append([]string{name}, below...)...)
}

// Error returns faults as one error, nil if there are none. Its message has all of them; errors.As finds the first as a
// *field.Error, [All] finds each. What errors.Is is to find, too, are the reasons; they are not in the message.
func Error(faults field.ErrorList, reasons ...error) error {
	if len(faults) == 0 {
		return nil
	}
	return &refused{faults: faults, reasons: reasons}
}

// All returns every field error that err wraps.
func All(err error) field.ErrorList {
	if one, ok := errors.AsType[*refused](err); ok {
		return one.faults
	}
	return nil
}

// Move gives the faults at or below one path another: for the options of one component that come from those of another.
func Move(faults field.ErrorList, from, to *field.Path) field.ErrorList {
	for _, fault := range faults {
		below, found := strings.CutPrefix(fault.Field, from.String())
		if found && (below == "" || below[0] == '.' || below[0] == '[') {
			fault.Field = to.String() + below
		}
	}
	return faults
}

// refused is what [Error] returns.
type refused struct {
	faults  field.ErrorList
	reasons []error
}

// Error has every fault, one after another.
func (r *refused) Error() string {
	texts := make([]string, len(r.faults))
	for i, fault := range r.faults {
		shown := *fault
		if duration, ok := fault.BadValue.(time.Duration); ok {
			shown.BadValue = duration.String() // rather than a number of nanoseconds
		}
		texts[i] = shown.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.As find the faults, and errors.Is the reasons.
func (r *refused) Unwrap() []error {
	var errs []error
	for _, fault := range r.faults {
		errs = append(errs, fault)
	}
	return append(errs, r.reasons...)
}
