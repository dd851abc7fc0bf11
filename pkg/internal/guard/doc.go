// Package guard keeps the Run of a component from being called where it must not be, and words the error in one way for
// all of them: [Exclusive] for a component that may be run again after it has ended, [Once] for one that may not.
package guard
