package batch

import (
	"iter"
	"slices"
	"strconv"
)

// IndexSet is a set of completion indexes of an Indexed Job: the value behind status.completedIndexes,
// status.failedIndexes and succeededIndexes of a success policy (k8s.io/api batch/v1, KEP-2214, KEP-3850, KEP-3998).
//
// It keeps sorted runs of neighbouring indexes, so a set of 100,000 finished indexes without gaps takes a few bytes
// and each question costs a binary search over the runs. The zero value is the empty set, ready for use. A copy made
// by assignment shares memory with the original: call [IndexSet.Clone] before changing one of the two.
type IndexSet struct {
	runs   []run
	length int
}

// run is an interval of indexes, both ends included.
type run struct{ first, last int }

// IndexSetOf returns the set of the indexes given, in any order and with repetitions allowed. Negative ones are left
// out. It is the fast way to make a set of many indexes that are not in order.
func IndexSetOf(indexes ...int) IndexSet {
	sorted := slices.Clone(indexes)
	slices.Sort(sorted)
	var set IndexSet
	for _, index := range sorted {
		if index >= 0 {
			set.extend(index, index)
		}
	}
	return set
}

// Len returns how many indexes the set holds.
func (s IndexSet) Len() int { return s.length }

// Has reports whether index is in the set.
func (s IndexSet) Has(index int) bool {
	i := s.search(index)
	return i < len(s.runs) && s.runs[i].first <= index
}

// search returns the position of the first run that ends at index or later.
func (s IndexSet) search(index int) int {
	i, _ := slices.BinarySearchFunc(s.runs, index, func(r run, index int) int { return r.last - index })
	return i
}

// Add puts index into the set and reports whether it was missing. A negative index is not added. Indexes that come in
// ascending order cost constant time; others shift the runs behind them.
func (s *IndexSet) Add(index int) bool {
	if index < 0 {
		return false
	}
	i := s.search(index)
	if i < len(s.runs) && s.runs[i].first <= index {
		return false
	}
	s.length++
	afterPrevious := i > 0 && s.runs[i-1].last == index-1
	beforeNext := i < len(s.runs) && s.runs[i].first == index+1
	switch {
	case afterPrevious && beforeNext:
		s.runs[i-1].last = s.runs[i].last
		s.runs = slices.Delete(s.runs, i, i+1)
	case afterPrevious:
		s.runs[i-1].last = index
	case beforeNext:
		s.runs[i].first = index
	default:
		s.runs = slices.Insert(s.runs, i, run{index, index})
	}
	return true
}

// extend adds first to last, of which none may lie before the start of the last run.
func (s *IndexSet) extend(first, last int) {
	if n := len(s.runs); n > 0 && first <= s.runs[n-1].last+1 {
		if tail := &s.runs[n-1]; last > tail.last {
			s.length += last - tail.last
			tail.last = last
		}
		return
	}
	s.runs = append(s.runs, run{first, last})
	s.length += last - first + 1
}

// Union returns a new set of the indexes that are in s, in other or in both.
func (s IndexSet) Union(other IndexSet) IndexSet {
	a, b := s.runs, other.runs
	if len(a) == 0 {
		return other.Clone()
	}
	union := IndexSet{runs: make([]run, 0, len(a)+len(b))}
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || (len(a) > 0 && a[0].first <= b[0].first) {
			union.extend(a[0].first, a[0].last)
			a = a[1:]
		} else {
			union.extend(b[0].first, b[0].last)
			b = b[1:]
		}
	}
	return union
}

// Below returns a new set of the indexes of s that are lower than limit: what counts of it when a Job is scaled to
// that many completions.
func (s IndexSet) Below(limit int) IndexSet {
	var below IndexSet
	for _, r := range s.runs {
		if r.first >= limit {
			break
		}
		below.extend(r.first, min(r.last, limit-1))
	}
	return below
}

// CountIn returns how many indexes s and other have in common.
func (s IndexSet) CountIn(other IndexSet) int {
	a, b := s.runs, other.runs
	common := 0
	for len(a) > 0 && len(b) > 0 {
		if overlap := min(a[0].last, b[0].last) - max(a[0].first, b[0].first) + 1; overlap > 0 {
			common += overlap
		}
		if a[0].last < b[0].last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return common
}

// Clone returns a copy that shares nothing with s.
func (s IndexSet) Clone() IndexSet {
	return IndexSet{runs: slices.Clone(s.runs), length: s.length}
}

// Equal reports whether both sets hold the same indexes.
func (s IndexSet) Equal(other IndexSet) bool {
	return s.length == other.length && slices.Equal(s.runs, other.runs)
}

// All returns the indexes in ascending order. The set must not change while they are read.
func (s IndexSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range s.runs {
			for index := r.first; index <= r.last; index++ {
				if !yield(index) {
					return
				}
			}
		}
	}
}

// Missing returns the indexes from 0 to limit-1 that are not in the set, in ascending order.
func (s IndexSet) Missing(limit int) iter.Seq[int] {
	return func(yield func(int) bool) {
		next := 0
		for _, r := range s.runs {
			for ; next < min(r.first, limit); next++ {
				if !yield(next) {
					return
				}
			}
			next = r.last + 1
		}
		for ; next < limit; next++ {
			if !yield(next) {
				return
			}
		}
	}
}

// String returns the set as the API writes it: ascending, parted by commas, runs of three or more as first-last.
// [ParseIndexSet] reads it back.
func (s IndexSet) String() string {
	text := make([]byte, 0, len(s.runs)*len("10000-20000,"))
	for i, r := range s.runs {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(r.first), 10)
		switch r.last {
		case r.first:
			continue
		case r.first + 1:
			text = append(text, ',')
		default:
			text = append(text, '-')
		}
		text = strconv.AppendInt(text, int64(r.last), 10)
	}
	return string(text)
}
