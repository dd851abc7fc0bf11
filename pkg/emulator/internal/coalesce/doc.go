// Package coalesce sends what is written to a connection within a moment in one piece. [New] is its entry point.
//
// HTTP/2 writes the header and the body of an answer one after the other, and those of several requests on one connection
// in turn, each with a system call and a TLS record of its own. Putting together what is there when the processor gets to
// it spares both sides most of them: of small answers, the calls cost more than all else on the way.
package coalesce
