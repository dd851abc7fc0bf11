package timeline

// The defaults of [Options].
const (
	DefaultWidth  = 960
	DefaultHeight = 1200
)

// The least that a picture can be.
const (
	minWidth  = 480
	minHeight = 320
)

// Options says how large a picture is. The zero value is useful.
type Options struct {
	// Width is the width of the picture in pixels of its own, at least 480. Default: [DefaultWidth].
	Width int
	// Height is how high it may be, at least 320. Default: [DefaultHeight]. Few pods need less.
	Height int
}

// complete returns o with the defaults filled in, and what is too small made as large as it must be.
func (o Options) complete() Options {
	if o.Width == 0 {
		o.Width = DefaultWidth
	}
	if o.Height == 0 {
		o.Height = DefaultHeight
	}
	o.Width, o.Height = max(o.Width, minWidth), max(o.Height, minHeight)
	return o
}
