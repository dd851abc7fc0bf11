// Package stack saves the handling of requests from stacks that grow step by step. [Reserve] is its entry point.
//
// A goroutine starts with a stack of a few KiB, and each time that it runs out of it, the runtime copies everything to a
// stack twice as big. The code below an API server goes deep, in a new goroutine for each request and for each event of
// a watch: the copies took about a tenth of all CPU time. Growing the stack while there is next to nothing on it, in one
// step, costs little.
package stack
