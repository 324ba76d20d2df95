package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/gander-go/gander/profiler/trace"
)

// Instrumented calls are recorded without anybody having asked for each of them. A loop that calls strconv.Itoa a million
// times would run several times longer, report the recording's time as Itoa's, and leave no room for what comes after. So
// the calls of one name are recorded one by one as long as they are few or long enough; from then on they are only
// counted, and their time stays in the self time of what called them. The first call of each goroutine in each step is
// still recorded and tells of those that follow (see CountedCalls), so that counts are right by goroutine and by step too;
// a problem of the trace names the functions, so that no missing time is silent.
const (
	// tinyAfter is how many calls of a name are recorded in any case.
	tinyAfter = 1 << 13
	// tinyCall is the mean duration in ns below which recording a call costs a tenth of it or more.
	tinyCall = 1000
	// tinyChunks is how many chunks of the caller's shard are looked at for the mean.
	tinyChunks = 16
	// tinyProblems is how many names are told of one by one.
	tinyProblems = 10
)

// CountedCalls is the key, in the arguments of a slice, of the number of calls of its name that were counted and not recorded, on
// its goroutine and in its step. It belongs to slices with trace.FlagInstrument only.
const CountedCalls = "calls counted only"

// calls is what a name knows of its instrumented calls.
type calls struct {
	begun atomic.Int64              // recorded ones
	tiny  atomic.Pointer[tinyCalls] // from now on they are counted
}

// counts reports whether a call of n is to be counted and not recorded, and counts it. One that is to be recorded although its
// kind is counted has a tally, for the event to be noted in.
func (r *Recorder) counts(n *name) (is bool, t *tally) {
	if c := n.calls.tiny.Load(); c != nil {
		if t = c.count(r, goroutine()); t == nil {
			return true, nil
		}
		n.calls.begun.Add(1)
		return false, t
	}
	begun := n.calls.begun.Add(1)
	if begun < tinyAfter || begun&(begun-1) != 0 || r.meanCall(n.id) >= r.tinyCall { // looked at again at every power of two
		return false, nil
	}
	n.calls.tiny.CompareAndSwap(nil, new(tinyCalls))
	return false, nil
}

// meanCall is the mean duration in ns of the calls with name id that the calling goroutine's shard recorded lately.
func (r *Recorder) meanCall(id uint32) int64 {
	r.mu.Lock()
	from := r.windows[len(r.windows)-1].from
	r.mu.Unlock()
	runs, _ := r.shards[goroutine()&(shardCount-1)].snapshot()
	var sum, n int64
	for _, run := range runs[max(0, len(runs)-tinyChunks):] {
		for i := range run {
			e := &run[i]
			if end := atomic.LoadUint64(&e.end); e.name == id && end != 0 {
				sum += int64(end>>1) - e.start
				n++
			}
		}
	}
	if n == 0 {
		return r.tinyCall
	}
	scale := newScale(from, readPair())
	return scale.ns(from.tick+sum/n) - from.ns
}

// countedArgs hangs a number of counted calls on s.
func (b *builder) countedArgs(s *trace.Slice, counted int64) {
	b.t.Calls = first(b.t.Calls)
	args := trace.CallArgs{ID: -1, Parent: -1, Module: -1}
	if s.Kind == trace.ArgCall {
		args = b.t.Calls[s.Args]
	}
	args.Extra = b.t.Strings.ID(`{"` + CountedCalls + `":` + strconv.FormatInt(counted, 10) + `}`)
	b.t.Calls = append(b.t.Calls, args)
	s.Kind, s.Args = trace.ArgCall, uint32(len(b.t.Calls)-1)
}

// countedProblems tells of the names whose calls were counted, those with the most calls one by one.
func (b *builder) countedProblems() {
	type line struct {
		n       *name
		counted int64
	}
	var list []line
	for _, n := range b.r.names.all() {
		if c := n.calls.tiny.Load(); c != nil {
			if counted := c.total(); counted > 0 {
				list = append(list, line{n, counted})
			}
		}
	}
	slices.SortStableFunc(list, func(p, q line) int { return cmp.Compare(q.counted, p.counted) })
	const remedy = "See the time of small functions with --sample 100, or measure one with %timeit."
	var others int64
	for i, l := range list {
		if i >= tinyProblems {
			others += l.counted
			continue
		}
		begun := l.n.calls.begun.Load()
		b.t.Problem("counted-calls", l.counted, fmt.Sprintf("Of %d calls of %s %d were timed and the rest only counted, because recording them takes about as long as they do: their time is in the self time of what called them.",
			l.counted+begun, l.n.text, begun), remedy)
	}
	if others > 0 {
		b.t.Problem("counted-calls", others, fmt.Sprintf("Calls of %d more functions were only counted after their first %d.", len(list)-tinyProblems, tinyAfter), remedy)
	}
}
