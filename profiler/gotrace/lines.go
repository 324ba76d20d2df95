package gotrace

import (
	"encoding/json"
	"math"

	"github.com/gander-go/gander/profiler/trace"
)

// manySlices is how many slices make the grain double.
const manySlices = 300_000

// lines are tracks on which one state follows another. Neighbouring states that are too short to see become one slice
// named after the one that lasted longest in all, with the time of each among its arguments.
type lines struct {
	t         *trace.Trace
	cat       trace.CategoryID
	grain     int64
	low, high int64
	next      int // number of slices at which the grain doubles
	all       []*line
}

// line is one such track.
type line struct {
	of    *lines
	track trace.TrackID
	name  trace.StringID
	since int64
	known bool // a state has begun

	from, to int64 // of the short states that wait to be added up
	parts    int
	sums     []part
}

type part struct {
	name trace.StringID
	dur  int64
}

func newLines(t *trace.Trace, cat trace.CategoryID, grain int64) *lines {
	if grain <= 0 {
		grain = 1000
	}
	return &lines{t: t, cat: cat, grain: grain, low: math.MinInt64, high: math.MaxInt64, next: len(t.Slices) + manySlices}
}

// window cuts what lies outside of low and high.
func (a *lines) window(low, high int64) { a.low, a.high = low, high }

func (a *lines) add(k trace.TrackID) *line {
	l := &line{of: a, track: k}
	a.all = append(a.all, l)
	return l
}

// begin starts a state.
func (l *line) begin(name trace.StringID, at int64) { l.name, l.since, l.known = name, at, true }

// end ends the state that is on, if any, and reports whether it is long enough to be shown alone.
func (l *line) end(at int64) bool {
	if !l.known {
		return false
	}
	l.known = false
	from, to := max(l.since, l.of.low), min(at, l.of.high)
	if to <= from {
		return false
	}
	if to-from >= l.of.grain {
		l.flush()
		l.emit(l.name, from, to, 0)
		return true
	}
	if l.parts > 0 && (to-l.from > 4*l.of.grain || from-l.to > l.of.grain) {
		l.flush()
	}
	if l.parts == 0 {
		l.from = from
	}
	l.to = to
	l.parts++
	for i := range l.sums {
		if l.sums[i].name == l.name {
			l.sums[i].dur += to - from
			return false
		}
	}
	l.sums = append(l.sums, part{l.name, to - from})
	return false
}

// flush shows the short states that wait.
func (l *line) flush() {
	if l.parts == 0 {
		return
	}
	most := l.sums[0]
	for _, p := range l.sums {
		if p.dur > most.dur {
			most = p
		}
	}
	args := uint32(0)
	if l.parts > 1 {
		sums := map[string]int64{"parts": int64(l.parts)}
		for _, p := range l.sums {
			sums[l.of.t.Strings.Get(p.name)+" ns"] += p.dur
		}
		text, err := json.Marshal(sums)
		if err == nil {
			t := l.of.t
			if len(t.Generics) == 0 {
				t.Generics = append(t.Generics, trace.GenericArgs{})
			}
			args = uint32(len(t.Generics))
			t.Generics = append(t.Generics, trace.GenericArgs{JSON: t.Strings.IDBytes(text)})
		}
	}
	l.emit(most.name, l.from, l.to, args)
	l.parts, l.sums = 0, l.sums[:0]
}

func (l *line) emit(name trace.StringID, from, to int64, args uint32) {
	s := trace.Slice{Start: from, Dur: to - from, Track: l.track, Name: name, Cat: l.of.cat}
	if args != 0 {
		s.Kind, s.Args = trace.ArgGeneric, args
	}
	t := l.of.t
	if t.Slices = append(t.Slices, s); len(t.Slices) >= l.of.next {
		l.of.grain *= 2
		l.of.next += manySlices / 2
	}
}

// close ends all states at a time.
func (a *lines) close(at int64) {
	for _, l := range a.all {
		l.end(at)
		l.flush()
	}
}
