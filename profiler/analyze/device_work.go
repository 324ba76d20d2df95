package analyze

import (
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// deviceEvent is one piece of device work as a convention sees it.
type deviceEvent struct {
	slice      int32
	call       int32 // the API call that caused it, or NoSlice
	start, end int64
	kind       KernelType
	sync       bool // a synchronisation event, which HTA takes for work of the device
}

// deviceEvents returns the device work in order of its start.
//
// Exact is every kernel, copy and set with its own times. HTA rounds starts up and ends down to whole microseconds when
// any time of the trace has a fraction, leaves out the last ProfilerStep of several with the work that it launched, and
// work whose launch was not recorded; synchronisation events count.
func (x *index) deviceEvents(c Convention) []deviceEvent {
	s := x.t.Slices
	kinds := make([]int8, x.t.Strings.Len())
	var out []deviceEvent
	limit, filter := x.lastStep(c)
	fraction := c == HTA && x.fractional()
	for i, class := range x.class {
		sync := class == trace.ClassSync
		if !class.DeviceWork() && !(sync && c == HTA) {
			continue
		}
		n := int32(i)
		e := deviceEvent{slice: n, call: x.callOf(n), start: s[i].Start, end: s[i].End(), sync: sync}
		if sync {
			e.call = x.syncCalls().find(s[i].Corr)
		}
		if c == HTA {
			if x.streamArg(n) < 0 {
				continue // without a stream it takes an event for one of the host
			}
			if filter && (e.call < 0 || s[e.call].Start >= limit) {
				continue
			}
			if fraction {
				e.start, e.end = ceilMicro(e.start), floorMicro(e.end)
			}
		}
		if kinds[s[i].Name] == 0 {
			kinds[s[i].Name] = int8(kernelType(x.t.Name(&s[i]))) + 1
		}
		e.kind = KernelType(kinds[s[i].Name] - 1)
		if class == trace.ClassMemcpy || class == trace.ClassMemset {
			e.kind = TypeMemory
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(p, q deviceEvent) int {
		if v := compareInt(p.start, q.start); v != 0 {
			return v
		}
		return compareInt(p.end, q.end)
	})
	return out
}

// streamArg returns the stream that a piece of device work names itself, or -1.
func (x *index) streamArg(i int32) int64 {
	switch s := &x.t.Slices[i]; s.Kind {
	case trace.ArgKernel:
		return x.t.Kernels[s.Args].Stream
	case trace.ArgCopy:
		return x.t.Copies[s.Args].Stream
	case trace.ArgSync:
		return x.t.Syncs[s.Args].Stream
	}
	return -1
}

// syncCalls finds API calls by correlation id.
func (x *index) syncCalls() *idTable {
	x.callsOnce.Do(func() {
		x.calls = newIDTable(x.t, func(i int) (int64, bool) { return x.t.Slices[i].Corr, isCall(x.class[i]) })
	})
	return &x.calls
}

// lastStep returns the start of the last step where HTA leaves that out.
func (x *index) lastStep(c Convention) (start int64, filter bool) {
	if c != HTA {
		return 0, false
	}
	steps := x.stepRanges()
	if len(steps) < 2 {
		return 0, false
	}
	return steps[len(steps)-1].start, true
}

// fractional reports whether any time of the trace is not a whole number of microseconds.
func (x *index) fractional() bool {
	for i := range x.t.Slices {
		if x.t.Slices[i].Start%1000 != 0 || x.t.Slices[i].Dur%1000 != 0 {
			return true
		}
	}
	return false
}

func floorMicro(ns int64) int64 {
	q := ns / 1000 * 1000
	if q > ns {
		q -= 1000
	}
	return q
}

func ceilMicro(ns int64) int64 { return -floorMicro(-ns) }

// times returns the union of the events that keep accepts.
func times(events []deviceEvent, keep func(*deviceEvent) bool) []span {
	var out []span
	for i := range events {
		if e := &events[i]; keep(e) {
			out = append(out, span{e.start, e.end})
		}
	}
	return union(out)
}

// Temporal returns where device time went.
func (a *Analysis) Temporal(c Convention) *TemporalReport {
	events := a.index().deviceEvents(c)
	if len(events) == 0 {
		return &TemporalReport{}
	}
	first, last := events[0].start, events[0].end
	for _, e := range events {
		last = max(last, e.end)
	}
	all := total(times(events, func(*deviceEvent) bool { return true }))
	if c == HTA {
		all = htaTotal(events)
	}
	r := &TemporalReport{Kernel: last - first}
	r.Idle = r.Kernel - all
	r.Compute = total(times(events, func(e *deviceEvent) bool { return e.kind == TypeCompute && !e.sync }))
	r.NonCompute = all - r.Compute
	return r
}

// htaTotal is the union as HTA computes it: work that rounding left with a negative length counts so where nothing else
// runs.
func htaTotal(events []deviceEvent) int64 {
	var sum int64
	group := span{events[0].start, events[0].end}
	for _, e := range events[1:] {
		if e.start > group.end {
			sum += group.end - group.start
			group = span{e.start, e.end}
		}
		group.end = max(group.end, e.end)
	}
	return sum + group.end - group.start
}

// Overlap returns how much communication was hidden.
func (a *Analysis) Overlap(c Convention) *OverlapReport {
	events := a.index().deviceEvents(c)
	comm := times(events, func(e *deviceEvent) bool { return e.kind == TypeComm })
	comp := times(events, func(e *deviceEvent) bool { return e.kind == TypeCompute && !e.sync })
	r := &OverlapReport{Communication: total(comm), Computation: total(comp), Both: total(intersect(comm, comp)), Ratio: -1}
	if r.Communication > 0 {
		r.Ratio = ratio(r.Both, r.Communication)
	}
	return r
}
