// Package life is what is known of the pods of a run: through which states each went, and when, and what else happened
// to the Jobs, pod groups and nodes round them.
//
// [Life] is the entry point: plain data, in offsets from the start of the run, which one part of the program records and
// others draw. The package neither watches a cluster nor draws anything.
package life
