package trace

import (
	"cmp"
	"slices"
)

// Bind sets Flow.From and Flow.To of every flow: the innermost slice that is open at that time on that track, where a
// slice that starts at the time is preferred to one that ends there, and the slice with the flow's correlation id to its
// neighbours. Sides that hit nothing get NoSlice. Slices must be sorted.
//
//  1. The ends of all flows are ordered by track and time.
//  2. Each track's slices and ends are swept together in time order. A stack holds the slices that have started; those
//     that ended before the current time are popped, and the top is the innermost open one.
func (t *Trace) Bind() {
	ends := make([]flowEnd, 0, 2*len(t.Flows))
	for i := range t.Flows {
		f := &t.Flows[i]
		f.From, f.To = NoSlice, NoSlice
		if f.FromTrack != NoTrack {
			ends = append(ends, flowEnd{f.FromTrack, f.FromTime, &f.From, f})
		}
		if f.ToTrack != NoTrack {
			ends = append(ends, flowEnd{f.ToTrack, f.ToTime, &f.To, f})
		}
	}
	slices.SortFunc(ends, func(a, b flowEnd) int {
		if a.track != b.track {
			return cmp.Compare(a.track, b.track)
		}
		return cmp.Compare(a.time, b.time)
	})
	next := 0
	var open []int32
	for i := 0; i < len(ends); {
		track := ends[i].track
		for next < len(t.Slices) && t.Slices[next].Track < track {
			next++
		}
		open = open[:0]
		for ; i < len(ends) && ends[i].track == track; i++ {
			e := &ends[i]
			for next < len(t.Slices) && t.Slices[next].Track == track && t.Slices[next].Start <= e.time {
				open = t.closed(open, t.Slices[next].Start)
				open = append(open, int32(next))
				next++
			}
			open = t.closed(open, e.time)
			*e.to = t.pick(open, e)
		}
	}
}

// flowEnd is one end of a flow; to is where the slice it hits goes.
type flowEnd struct {
	track TrackID
	time  int64
	to    *int32
	flow  *Flow
}

// closed pops the slices that ended before time.
func (t *Trace) closed(open []int32, time int64) []int32 {
	for len(open) > 0 && t.Slices[open[len(open)-1]].End() < time {
		open = open[:len(open)-1]
	}
	return open
}

// pick chooses among the open slices: that of the flow's correlation id if it is one of the innermost few, else the
// innermost.
func (t *Trace) pick(open []int32, e *flowEnd) int32 {
	if len(open) == 0 {
		return NoSlice
	}
	if e.flow.Kind == FlowLaunch {
		for i := len(open) - 1; i >= max(0, len(open)-8); i-- {
			if s := &t.Slices[open[i]]; s.Corr == e.flow.ID && s.End() >= e.time {
				return open[i]
			}
		}
	}
	return open[len(open)-1]
}
