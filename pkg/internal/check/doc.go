// Package check words what is wrong with the options of a component, in one way for all packages of this module: as
// field errors whose path begins with [Option], gathered into one error by [Error].
package check
