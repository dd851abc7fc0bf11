// Package drain ends the requests of a server in good order: none begin any more, those that would go on for ever
// (watches) end at once, and the others are let finish unless they take too long.
//
// [New] makes a [Drain], whose Handler counts requests; Drain.Stop ends them. The order matters to clients: a watch that
// is ended this way closes cleanly, and a write that has been accepted gets its answer.
//
// A handler that waits for its client to read cannot be ended from here unless its writer is an [Unblocker]: it ends when
// whoever holds the connection closes it.
package drain
