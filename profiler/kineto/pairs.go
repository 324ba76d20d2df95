package kineto

import (
	"cmp"
	"math"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// pair turns begins and ends into slices: those of threads nest, so that an end closes the innermost open begin of its
// name (or the innermost one, when it has no name); asynchronous ones are matched by id as well, and may overlap.
//
//  1. Edges are ordered by track, id and time; equal times keep their order in the file.
//  2. Within one track and id a stack of open begins is kept. The end of a thread's slice pops up to and including its
//     begin; what lies above it was never ended. An asynchronous end takes out its begin alone.
//  3. What is open at last goes to left, to be shown until the end of the recording.
func (m *merger) pair() (left []trace.Slice) {
	edges := m.edges.take(0)
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.slice.Track, b.slice.Track), cmp.Compare(a.id, b.id), cmp.Compare(a.slice.Start, b.slice.Start))
	})
	var open []trace.Slice
	unended := func(from int) {
		for _, s := range open[from:] {
			if s.Dur >= 0 {
				m.lost[fixedBegin]++
				s.Dur = 0
				s.Flags |= trace.FlagUnfinished
				left = append(left, s)
			}
		}
		open = open[:from]
	}
	for i := range edges {
		e := &edges[i]
		if i > 0 && (e.slice.Track != edges[i-1].slice.Track || e.id != edges[i-1].id) {
			unended(0)
		}
		if e.phase == 'B' || e.phase == 'b' {
			open = append(open, e.slice)
			continue
		}
		k := len(open) - 1
		if e.slice.Name != 0 {
			// The search is bounded: in a file of only begins and ends of other names it would take quadratic time.
			for low := max(0, len(open)-maxOpen); k >= low && open[k].Name != e.slice.Name; k-- {
			}
			if k < len(open)-maxOpen {
				k = -1
			}
		}
		if k < 0 {
			m.lost[lostEnd]++
			continue
		}
		s := open[k]
		if e.phase == 'E' {
			unended(k + 1)
			open = open[:k]
		} else {
			open = slices.Delete(open, k, k+1)
		}
		if s.Dur >= 0 { // a negative one is left out by the options
			s.Dur = between(s.Start, e.slice.Start)
			m.slices.add(s)
		}
	}
	unended(0)
	return left
}

// maxOpen bounds how deep the begin of an end is looked for.
const maxOpen = 1000

// between is the time from one moment to another, 0 when that lies before and the most an int64 can say when it would
// not fit.
func between(from, to int64) int64 {
	switch d := to - from; {
	case to <= from:
		return 0
	case d < 0:
		return math.MaxInt64
	default:
		return d
	}
}
