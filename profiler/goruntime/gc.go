package goruntime

import (
	"runtime/debug"
	"time"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// collections notes garbage collections. The runtime keeps the ends and stop-the-world times of the last 256 and the CPU
// time of all marking together, not when marking began: that is estimated.
type collections struct {
	stats     debug.GCStats
	seen      int64   // collections that were counted so far
	dedicated float64 // seconds of CPU that background marking had taken by then
	list      []collection
	lost      int64
}

// collection is one garbage collection. Times are record times in ns.
type collection struct {
	end   int64
	pause int64 // both stop-the-world phases together
	mark  int64 // estimated duration of the concurrent phase, 0 when unknown
}

// maxCollections bounds the list: 24 bytes each.
const maxCollections = 1 << 20

// begin sets the state from which look counts.
func (g *collections) begin(m *Metrics) {
	g.stats.Pause = make([]time.Duration, 0, 3+2*256)
	g.stats.PauseEnd = make([]time.Time, 0, 256)
	debug.ReadGCStats(&g.stats)
	g.seen = g.stats.NumGC
	g.dedicated = m.number(gcDedicated)
	g.list = g.list[:0]
}

// look notes the collections that ended since the last time.
func (g *collections) look(m *Metrics) {
	if g.stats.PauseEnd == nil || int64(m.number(gcCycles)) == g.seen {
		return
	}
	debug.ReadGCStats(&g.stats)
	n := g.stats.NumGC - g.seen
	if n <= 0 {
		return
	}
	known := min(n, int64(len(g.stats.Pause)))
	g.lost += n - known
	// A quarter of the processors mark in the background while a collection runs, be it by dedicated workers or by
	// parts of their time: that turns their CPU time into a duration.
	dedicated := m.number(gcDedicated)
	mark := int64(0)
	if procs := m.number(maxProcs); procs > 0 {
		mark = int64((dedicated - g.dedicated) / (0.25 * procs) * 1e9 / float64(n))
	}
	g.seen, g.dedicated = g.stats.NumGC, dedicated
	for i := known - 1; i >= 0; i-- { // the latest comes first
		if len(g.list) == maxCollections {
			g.lost++
			continue
		}
		end := g.stats.PauseEnd[i].UnixNano() - record.Wall(0)
		g.list = append(g.list, collection{end: end, pause: int64(g.stats.Pause[i]), mark: mark})
	}
}

// addTo adds each collection as two slices: the whole, whose start is an estimate, and the stop-the-world time, which is
// exact but shown in one piece at the end.
func (g *collections) addTo(t *trace.Trace, p trace.ProcessID, w record.Window) {
	tracks := t.TrackIndex()
	gc, stw := trace.NoTrack, trace.NoTrack
	for _, c := range g.list {
		if !w.Holds(c.end) {
			continue
		}
		if gc == trace.NoTrack {
			gc = tracks.ID(p, trace.TrackRuntime, trackGC, "Garbage collector")
			stw = tracks.ID(p, trace.TrackRuntime, trackSTW, "Stop the world")
		}
		pause, whole := min(c.pause, c.end-w.Start), min(c.mark+c.pause, c.end-w.Start)
		t.Slices = append(t.Slices,
			trace.Slice{Start: w.Time(c.end - whole), Dur: whole, Track: gc, Name: t.Strings.ID("GC (estimated start)"), Cat: t.Category("gc", trace.ClassGC)},
			trace.Slice{Start: w.Time(c.end - pause), Dur: pause, Track: stw, Name: t.Strings.ID("GC stop the world"), Cat: t.Category("gc", trace.ClassSTW)})
	}
	if g.lost > 0 {
		t.Problem("lost-gc", g.lost, "Garbage collections were counted but their times are unknown: more than 256 ended between two readings.",
			"Record with --sched, which sees each of them.")
	}
}
