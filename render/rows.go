package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// maxRows bounds the rows of one track: deeper recursion or more work at once is counted and left out of the picture.
const maxRows = 256

// rowTrack is one track of the timeline with the rows that its slices need.
type rowTrack struct {
	id   trace.TrackID
	rows [][]rowEvent
	busy int64 // ns covered in the first row
}

func (rt *rowTrack) events() int {
	n := 0
	for _, r := range rt.rows {
		n += len(r)
	}
	return n
}

// rowEvent is a slice or an instant in its row. Slice is trace.NoSlice for instants.
type rowEvent struct {
	start, end int64
	name       uint32 // index into the timeline's names
	args       uint32
	slice      int32
	count      int32 // events that it stands for, more than 1 after merging
}

// layRows places the slices of every track in rows such that those of a row do not overlap. Slices of threads and
// goroutines go to the row of their depth, those of other tracks to the first free one. name and args turn a slice into
// indexes. Tracks without events are left out. The second result counts the events that found no row below maxRows.
func layRows(t *trace.Trace, name, args func(s *trace.Slice) uint32, instant func(e *trace.Instant) uint32) ([]*rowTrack, int) {
	crowded := 0
	tracks := make([]*rowTrack, len(t.Tracks))
	place := func(k trace.TrackID, depth int, e rowEvent) {
		if tracks[k] == nil {
			tracks[k] = &rowTrack{id: k}
		}
		rt := tracks[k]
		for d := depth; d < maxRows; d++ {
			if d == len(rt.rows) {
				rt.rows = append(rt.rows, nil)
			}
			row := rt.rows[d]
			if len(row) == 0 || row[len(row)-1].end <= e.start {
				rt.rows[d] = append(row, e)
				return
			}
		}
		crowded++
	}
	var open []int64 // ends of the slices around the present one
	last := trace.NoTrack
	for i := range t.Slices {
		s := &t.Slices[i]
		if t.Class(s) == trace.ClassTool {
			continue // spans of the whole recording by the tool: they would cover everything
		}
		if s.Track != last {
			open, last = open[:0], s.Track
		}
		kind := t.Tracks[s.Track].Kind
		depth := 0
		if nests(kind) && s.Flags&trace.FlagAsync == 0 {
			for len(open) > 0 && open[len(open)-1] <= s.Start {
				open = open[:len(open)-1]
			}
			depth = len(open)
			open = append(open, s.End())
		}
		place(s.Track, depth, rowEvent{s.Start, s.End(), name(s), args(s), int32(i), 1})
	}
	addInstants(t, tracks, instant)
	var out []*rowTrack
	for _, rt := range tracks {
		if rt == nil {
			continue
		}
		rt.rows = slices.DeleteFunc(rt.rows, func(r []rowEvent) bool { return len(r) == 0 })
		if len(rt.rows) == 0 {
			continue
		}
		for _, e := range rt.rows[0] {
			rt.busy += e.end - e.start
		}
		out = append(out, rt)
	}
	slices.SortStableFunc(out, func(a, b *rowTrack) int { return compareTracks(t, a, b) })
	return out, crowded
}

func nests(k trace.TrackKind) bool { return k == trace.TrackThread || k == trace.TrackGoroutine }

// addInstants gives every track with instants one more row of them. Memory events have a curve of their own.
func addInstants(t *trace.Trace, tracks []*rowTrack, instant func(e *trace.Instant) uint32) {
	rows := map[trace.TrackID][]rowEvent{}
	for i := range t.Instants {
		e := &t.Instants[i]
		if e.Track == trace.NoTrack || bookkeeping(t.Strings.Get(e.Name)) || int(e.Cat) < len(t.Categories) && t.Categories[e.Cat].Class == trace.ClassMemory {
			continue
		}
		rows[e.Track] = append(rows[e.Track], rowEvent{e.Time, e.Time, instant(e), 0, trace.NoSlice, 1})
	}
	for k, r := range rows {
		slices.SortStableFunc(r, func(a, b rowEvent) int { return cmp.Compare(a.start, b.start) })
		if tracks[k] == nil {
			tracks[k] = &rowTrack{id: k}
		}
		tracks[k].rows = append(tracks[k].rows, r)
	}
}

// bookkeeping tells the marks by which Kineto notes its own window; they would open tracks of their own.
func bookkeeping(name string) bool {
	return strings.HasPrefix(name, "Iteration Start: ") || name == "Record Window End"
}

// compareTracks orders tracks as people look for them: host before devices, by process, then by the source's order and
// id. Tracks of one process stay together.
func compareTracks(t *trace.Trace, a, b *rowTrack) int {
	x, y := &t.Tracks[a.id], &t.Tracks[b.id]
	return cmp.Or(
		cmp.Compare(b2i(x.Kind == trace.TrackStream), b2i(y.Kind == trace.TrackStream)),
		cmp.Compare(processSort(t, x.Process), processSort(t, y.Process)),
		cmp.Compare(x.Process, y.Process),
		cmp.Compare(b2i(x.Kind == trace.TrackRuntime), b2i(y.Kind == trace.TrackRuntime)),
		cmp.Compare(x.Sort, y.Sort),
		cmp.Compare(b.busy, a.busy),
	)
}

func processSort(t *trace.Trace, p trace.ProcessID) int64 {
	if p < 0 || int(p) >= len(t.Processes) {
		return 0
	}
	return t.Processes[p].Sort
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// merge joins neighbours of a row that are shorter than least and closer than that into one event each, named other.
// It returns how many events it hid.
func merge(tracks []*rowTrack, least int64, other uint32) int {
	hidden := 0
	for _, rt := range tracks {
		for d, row := range rt.rows {
			out := row[:0:0]
			for _, e := range row {
				if n := len(out); n > 0 && e.end-e.start < least {
					p := &out[n-1]
					if (p.count > 1 || p.end-p.start < least) && e.start-p.end < least {
						p.end, p.name, p.args, p.slice = e.end, other, 0, trace.NoSlice
						p.count += e.count
						hidden++
						continue
					}
				}
				out = append(out, e)
			}
			rt.rows[d] = out
		}
	}
	return hidden
}
