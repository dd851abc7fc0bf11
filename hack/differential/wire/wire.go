// Package wire holds what the programs that judge objects are asked and what they answer: one JSON document a line, each
// question with one answer. The program hack/judge of the main module speaks the same without sharing this code: the two
// modules need different versions of the same libraries.
package wire

import "encoding/json"

// Question is an object that somebody wants to create, or to put in the place of another.
type Question struct {
	// Kind is Workload, PodGroup, Job or Pod.
	Kind string `json:"kind"`
	// Operation is create, update, or status for an update of the subresource.
	Operation string `json:"operation"`
	// Gates are the feature gates that are on, of the six of gang scheduling.
	Gates []string `json:"gates,omitempty"`
	// Object is what is sent.
	Object json.RawMessage `json:"object"`
	// Old is what is stored, missing for a create.
	Old json.RawMessage `json:"old,omitempty"`
}

// Answer is what becomes of the object.
type Answer struct {
	// Object is what would be stored, were there no errors: with defaults, without what is dropped.
	Object json.RawMessage `json:"object,omitempty"`
	// Errors are in the order in which they were found.
	Errors []Error `json:"errors,omitempty"`
	// Warnings are in the order in which they were found.
	Warnings []string `json:"warnings,omitempty"`
	// Panic is what the rules panicked with, if they did.
	Panic string `json:"panic,omitempty"`
	// Undecodable is why Object or Old is no object of its kind.
	Undecodable string `json:"undecodable,omitempty"`
}

// Error is what is wrong with a field.
type Error struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
}
