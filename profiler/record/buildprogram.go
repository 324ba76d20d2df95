package record

import (
	"cmp"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// memory adds what the program's allocators reported, with the total in use after each event. The total starts from
// what was live when the recording began, so that releases of older memory do not turn it negative.
func (b *builder) memory() {
	events, dropped := b.r.memory.all()
	slices.SortStableFunc(events, func(x, y memEvent) int { return cmp.Compare(x.tick, y.tick) })
	at := len(b.t.Memory)
	b.t.Memory = slices.Grow(b.t.Memory, len(events))
	var total int64
	next := 0 // the window that has not begun yet
	for i := range events {
		e := &events[i]
		for next < len(b.windows) && (next == 0 || b.windows[next].from.tick <= e.tick) {
			total = b.windows[next].live
			next++
		}
		if !e.oom {
			total += e.bytes
		}
		m := trace.MemEvent{
			Time: b.time(e.tick), Track: b.tracks.Goroutine(b.process, e.goid), Space: trace.MemHost, OOM: e.oom,
			Device: trace.NoDevice, Addr: e.addr, Bytes: e.bytes, Allocated: total, Reserved: -1, Name: b.name(e.name).id,
		}
		if dropped > 0 {
			m.Allocated = -1
		}
		if e.arg != 0 && int(e.arg) <= len(b.args.args) {
			m.Stack = b.args.stack(b.args.args[e.arg-1])
		}
		b.t.Memory = append(b.t.Memory, m)
	}
	if at > 0 {
		slices.SortStableFunc(b.t.Memory, func(x, y trace.MemEvent) int { return cmp.Compare(x.Time, y.Time) })
	}
	if dropped > 0 {
		b.t.Problem("dropped-memory-events", dropped, "Memory events were dropped because the recording was full; totals in use are unknown.",
			"Record a shorter piece or raise MaxEvents.")
	}
}

// counters adds a track of values for each name the program reported.
func (b *builder) counters() {
	values, dropped := b.r.counters.all()
	slices.SortStableFunc(values, func(x, y counterValue) int { return cmp.Compare(x.tick, y.tick) })
	type key struct{ name, unit string }
	index := make(map[key]int)
	for _, v := range values {
		k := key{v.name, v.unit}
		i, ok := index[k]
		if !ok {
			i = len(b.t.Counters)
			index[k] = i
			b.t.Counters = append(b.t.Counters, trace.Counter{
				Name: v.name, Unit: v.unit, Process: b.process, Track: trace.NoTrack, Device: trace.NoDevice,
			})
		}
		c := &b.t.Counters[i]
		c.Times = append(c.Times, b.time(v.tick))
		c.Values = append(c.Values, v.value)
	}
	if dropped > 0 {
		b.t.Problem("dropped-counter-values", dropped, "Counter values were dropped because the recording was full.",
			"Report values less often or raise MaxEvents.")
	}
}

// instants adds the moments that the program marked.
func (b *builder) instants() {
	marks, dropped := b.r.instants.all()
	slices.SortStableFunc(marks, func(x, y instant) int { return cmp.Compare(x.tick, y.tick) })
	for _, m := range marks {
		b.t.Instants = append(b.t.Instants, trace.Instant{
			Time: b.time(m.tick), Track: b.tracks.Goroutine(b.process, m.goid), Name: b.t.Strings.ID(m.name),
			Cat: b.t.Category("cpu_instant_event", trace.ClassOther), Scope: 't',
		})
	}
	if dropped > 0 {
		b.t.Problem("dropped-marks", dropped, "Marks were dropped because the recording was full.",
			"Mark less often or raise MaxEvents.")
	}
}

// problems reports what did not fit.
func (b *builder) problems() {
	if b.dropped > 0 {
		b.t.Problem("dropped-spans", b.dropped, "Spans were dropped because the recording was full; counts and times of what was dropped are missing.",
			"Record a shorter piece, use a schedule, or raise MaxEvents.")
	}
	b.countedProblems()
	if b.scale.broken {
		b.t.Problem("clock", 1, "The processor's time stamp counter did not run evenly during the recording: times of spans are wrong.",
			"Record again; suspending or migrating the machine does this.")
	}
	if n := b.r.names.lost.Load(); n > 0 {
		b.t.Problem("dropped-names", n, "Spans were recorded under "+otherNames+" because the program made up too many different names.",
			"Give spans of one kind one name.")
	}
	if n := b.r.args.lost.Load(); n > 0 {
		b.t.Problem("dropped-arguments", n, "Spans were recorded without shapes and stacks because there were too many different ones.",
			"Record without RecordShapes or WithStack, or a shorter piece.")
	}
}
