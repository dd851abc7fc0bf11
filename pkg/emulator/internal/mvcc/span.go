package mvcc

// Span is a stretch of the key space: Start is in it, End is not. An empty End means that there is no end.
// The zero Span holds every key.
type Span struct {
	Start, End string
}

// Single is the span that holds one key.
func Single(key string) Span {
	return Span{Start: key, End: key + "\x00"}
}

// Prefix is the span that holds the keys that begin with prefix. Prefix("") holds every key.
func Prefix(prefix string) Span {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return Span{Start: prefix, End: string(end[:i+1])}
		}
	}
	// Nothing but 0xff bytes: no key sorts after all those with this prefix.
	return Span{Start: prefix}
}

// Contains says whether key lies in the span.
func (s Span) Contains(key string) bool {
	return key >= s.Start && (s.End == "" || key < s.End)
}
