// Package sockets makes clients behind a socket wait where a control plane of several processes would take its time.
// [Pause] is its entry point.
package sockets
