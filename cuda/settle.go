package cuda

import (
	"cmp"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// settle ties calls to the spans that they were made in. The spans must be in t, and t need not be sorted.
//
//  1. Spans are found by their external ids.
//  2. Memory events go to the track of the span of the call that they happened in.
//  3. Calls move from their thread's track to their span's, which lies around them: the two clocks differ by less than a
//     microsecond, and what sticks out by that much is cut.
//  4. An arrow goes from each call to the device work that it caused. Where a call of the runtime and the call of the driver
//     that it makes share an id, it is the runtime's, which lies around the other.
//  5. Spans and launches of graphs are shown as ranges on the streams (see ranges).
func settle(t *trace.Trace) {
	s := t.Slices
	spans := map[int64]int32{}
	var calls []int32
	var work []int32
	for i := range s {
		switch c := t.Class(&s[i]); {
		case c == trace.ClassRuntime || c == trace.ClassDriver:
			calls = append(calls, int32(i))
		case c.DeviceWork():
			work = append(work, int32(i))
		case s[i].Ext != 0 && t.Tracks[s[i].Track].Kind == trace.TrackGoroutine:
			spans[s[i].Ext] = int32(i)
		}
	}
	settleMemory(t, calls, spans)
	byCorr := make(map[int64]int32, len(calls))
	for _, i := range calls {
		if old, ok := byCorr[s[i].Corr]; s[i].Corr != 0 && (!ok || t.Class(&s[old]) != trace.ClassRuntime) {
			byCorr[s[i].Corr] = i
		}
		if n, ok := spans[s[i].Ext]; ok && s[i].Ext != 0 {
			within(&s[i], &s[n])
		}
	}
	ac2g := t.Strings.ID("ac2g")
	for _, i := range work {
		call, ok := byCorr[s[i].Corr]
		if !ok {
			continue
		}
		t.Flows = append(t.Flows, trace.Flow{
			Kind: trace.FlowLaunch, ID: s[i].Corr, Name: ac2g, Cat: ac2g, FromTrack: s[call].Track, FromTime: s[call].Start,
			ToTrack: s[i].Track, ToTime: s[i].Start, From: trace.NoSlice, To: trace.NoSlice,
		})
	}
	ranges(t)
	graphRanges(t)
}

// maxSkew is how far a call may stick out of its span by the clocks alone, ns. One that sticks out further was made when
// the span was over on its goroutine (a thread that another goroutine ended it for), and keeps its times.
const maxSkew = 5000

// within puts a call on the track of its span and into its bounds.
func within(call, span *trace.Slice) {
	call.Track = span.Track
	if span.Flags&trace.FlagAsync != 0 {
		return
	}
	if early := span.Start - call.Start; early > 0 && early <= maxSkew {
		call.Start += early
		call.Dur -= min(early, call.Dur)
	}
	if late := call.End() - span.End(); late > 0 && late <= maxSkew && span.Flags&trace.FlagUnfinished == 0 {
		call.Start = min(call.Start, span.End())
		call.Dur = span.End() - call.Start
	}
}

// settleMemory moves memory events from threads to goroutines.
func settleMemory(t *trace.Trace, calls []int32, spans map[int64]int32) {
	s := t.Slices
	byThread := map[trace.TrackID][]int32{}
	for _, i := range calls {
		byThread[s[i].Track] = append(byThread[s[i].Track], i)
	}
	for _, list := range byThread {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(s[a].Start, s[b].Start) })
	}
	for i := range t.Memory {
		m := &t.Memory[i]
		if m.Track < 0 || t.Tracks[m.Track].Kind != trace.TrackThread {
			continue
		}
		list := byThread[m.Track]
		n, _ := slices.BinarySearchFunc(list, m.Time+1, func(i int32, at int64) int { return cmp.Compare(s[i].Start, at) })
		if n == 0 {
			continue
		}
		if c := &s[list[n-1]]; c.End() >= m.Time && c.Ext != 0 {
			if span, ok := spans[c.Ext]; ok {
				m.Track = s[span].Track
				if o := &s[span]; o.Flags&trace.FlagUnfinished == 0 && m.Time > o.End() && m.Time-o.End() <= maxSkew {
					m.Time = o.End()
				}
			}
		}
	}
}
