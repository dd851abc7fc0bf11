// Package play drives a served cluster with kubectl. It has only tests, and is apart from the program so that building
// them does not build kubectl twice.
package play
