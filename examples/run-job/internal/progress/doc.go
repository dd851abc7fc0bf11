// Package progress shows on a terminal how far Jobs have come, while it happens: a bar for each Job and a cell for each
// pod, below the lines that are printed meanwhile.
//
// [Frame] is the pure part: it makes the lines of a moment's [State], for a terminal of some size. [Start] keeps a frame on
// a terminal up to date until [Live.Stop], which leaves nothing of it behind.
package progress
