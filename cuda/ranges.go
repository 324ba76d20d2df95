package cuda

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// ranges adds what torch.profiler calls gpu_user_annotation: for each of the program's own spans and each stream, a range
// from the first to the last piece of work that was launched in the span.
//
//  1. On each goroutine, the spans are walked in order of time; a stack of the open ones tells in which span of the program's
//     another lies.
//  2. Each piece of work widens the range of the innermost span that launched it, on its stream; then those widen the ranges of
//     the spans around them.
//  3. Ranges become slices, outer ones first, a nanosecond longer at both ends than the work: so they lie around it.
//
// Ranges of one stream may overlap without one being in the other, where goroutines share the stream.
func ranges(t *trace.Trace) {
	outer := programSpans(t)
	if len(outer) == 0 {
		return
	}
	byExt := make(map[int64]int32, len(outer))
	for i := range outer {
		byExt[t.Slices[i].Ext] = i
	}
	type key struct {
		span  int32
		track trace.TrackID
	}
	inner := map[key]extent{}
	for i := range t.Slices {
		w := &t.Slices[i]
		if !t.Class(w).DeviceWork() || w.Ext == 0 {
			continue
		}
		span, ok := byExt[w.Ext]
		if !ok {
			continue
		}
		if !programSpan(t, span) {
			span = outer[span]
		}
		if span != trace.NoSlice {
			inner[key{span, w.Track}] = inner[key{span, w.Track}].with(w.Start, w.End())
		}
	}
	all := make(map[key]extent, len(inner))
	for k, e := range inner {
		for ; k.span != trace.NoSlice; k.span = outer[k.span] {
			all[k] = all[k].with(e.start, e.end)
		}
	}
	keys := make([]key, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		x, y := &t.Slices[a.span], &t.Slices[b.span]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur), cmp.Compare(a.span, b.span), cmp.Compare(a.track, b.track))
	})
	cat := t.Category("gpu_user_annotation", trace.ClassDeviceAnnotation)
	for _, k := range keys {
		s, e := t.Slices[k.span], all[k]
		t.Slices = append(t.Slices, trace.Slice{Start: e.start - 1, Dur: e.end - e.start + 2, Ext: s.Ext, Track: k.track, Name: s.Name, Cat: cat})
	}
}

// extent is a piece of time; the zero value holds nothing.
type extent struct {
	start, end int64
	some       bool
}

func (e extent) with(start, end int64) extent {
	if e.some {
		start, end = min(e.start, start), max(e.end, end)
	}
	return extent{start, end, true}
}

// programSpan reports whether slice i is a span of the program's own: one that it began, or a step.
func programSpan(t *trace.Trace, i int32) bool {
	c := t.Class(&t.Slices[i])
	return c == trace.ClassAnnotation || c == trace.ClassStep
}

// programSpans returns, for each span that work can be tied to, the innermost span of the program's that it lies in, NoSlice
// for none. A span that overlaps another one without lying in it has none.
func programSpans(t *trace.Trace) map[int32]int32 {
	byTrack := map[trace.TrackID][]int32{}
	for i := range t.Slices {
		s := &t.Slices[i]
		if c := t.Class(s); s.Ext != 0 && t.Tracks[s.Track].Kind == trace.TrackGoroutine && c != trace.ClassRuntime && c != trace.ClassDriver {
			byTrack[s.Track] = append(byTrack[s.Track], int32(i))
		}
	}
	outer := map[int32]int32{}
	for _, list := range byTrack {
		slices.SortStableFunc(list, func(a, b int32) int {
			x, y := &t.Slices[a], &t.Slices[b]
			return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur))
		})
		var open []int32
		for _, i := range list {
			s := &t.Slices[i]
			for len(open) > 0 && t.Slices[open[len(open)-1]].End() <= s.Start {
				open = open[:len(open)-1]
			}
			outer[i] = trace.NoSlice
			if s.Flags&trace.FlagAsync != 0 {
				continue
			}
			for n := len(open) - 1; n >= 0; n-- {
				if programSpan(t, open[n]) {
					outer[i] = open[n]
					break
				}
			}
			open = append(open, i)
		}
	}
	return outer
}

// graphRanges adds a range around the work of each launch of a CUDA graph, on each stream that it ran on. Where CUPTI tells
// of graphs as wholes, there is no work to lie in ranges.
func graphRanges(t *trace.Trace) {
	type key struct {
		corr, graph int64
		track       trace.TrackID
	}
	seen, at := map[key]int{}, len(t.Slices)
	cat := t.Category("gpu_user_annotation", trace.ClassDeviceAnnotation)
	for i := range at {
		s := &t.Slices[i]
		graph, node := int64(-1), int64(-1)
		switch s.Kind {
		case trace.ArgKernel:
			graph, node = t.Kernels[s.Args].GraphID, t.Kernels[s.Args].GraphNode
		case trace.ArgCopy:
			graph, node = t.Copies[s.Args].GraphID, t.Copies[s.Args].GraphNode
		}
		if graph < 0 || node < 0 || s.Corr == 0 || !t.Class(s).DeviceWork() {
			continue
		}
		k := key{s.Corr, graph, s.Track}
		n, ok := seen[k]
		if !ok {
			seen[k] = len(t.Slices)
			t.Slices = append(t.Slices, trace.Slice{
				Start: s.Start - 1, Dur: s.Dur + 2, Ext: s.Ext, Track: s.Track, Name: t.Strings.ID("CUDA graph " + strconv.FormatInt(graph, 10)), Cat: cat,
			})
			continue
		}
		r := &t.Slices[n]
		from, to := min(r.Start, t.Slices[i].Start-1), max(r.End(), t.Slices[i].End()+1)
		r.Start, r.Dur = from, to-from
	}
}
