package stack

// room is what the deepest common paths need: the comparison of two pods for managed fields. Stacks come in powers of
// two, so the goroutine has 32 KiB then.
const room = 20 << 10

// Reserve gives the calling goroutine as much stack as it will need for a request. It is to be called early in a
// goroutine's life; where there is enough stack already, it does nothing.
func Reserve() { reserve(-1) }

// reserve has a frame of that size, which is all that matters: the stack grows to hold it before the first statement.
// The array is only filled, with zeros, where it is used, which is never.
//
//go:noinline
func reserve(at int) byte {
	if at < 0 {
		return 0
	}
	var frame [room]byte
	return element(&frame, at)
}

// element keeps the compiler from seeing that the array is always empty.
//
//go:noinline
func element(of *[room]byte, at int) byte { return of[at] }
