package kineto

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// finish makes the collected columns a trace that passes Validate.
//
//  1. Begins and ends become slices; what was never ended lasts to the end of the recorded window.
//  2. Slices are ordered: by track with one counting pass, then each track by start.
//  3. Tracks and processes learn what they are from what is on them.
//  4. Arrows, counters and samples are joined from their parts.
func (m *merger) finish() *trace.Trace {
	t := m.t
	left := m.pair()
	t.Instants = m.instants.take(0)
	t.Memory = m.memory.take(0)
	m.window()
	for _, s := range left {
		s.Dur = between(s.Start, t.Meta.End)
		m.slices.add(s)
	}
	large := m.bytes() > largeModel
	m.arrange()
	m.collect(large)
	t.Ops, t.Calls, t.Kernels = m.ops.take(1), m.calls.take(1), m.kernels.take(1)
	t.Copies, t.Syncs, t.Generics = m.copies.take(1), m.syncs.take(1), m.generics.take(1)
	m.collect(large)
	m.placeDevices()
	t.Flows = m.flows()
	m.counters()
	m.sampleStacks()
	byTime := func(a, b trace.Instant) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(t.Instants, byTime) {
		slices.SortStableFunc(t.Instants, byTime)
	}
	memTime := func(a, b trace.MemEvent) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(t.Memory, memTime) {
		slices.SortStableFunc(t.Memory, memTime)
	}
	slices.SortStableFunc(t.Samples, func(a, b trace.Sample) int { return cmp.Compare(a.Time, b.Time) })
	if t.Meta.Tool == "" {
		t.Meta.Tool = m.tool()
	}
	report(t, &m.lost)
	t.Bind()
	m.collect(large)
	return t
}

// largeModel is the size in bytes from which finish gives back what it no longer needs at once.
const largeModel = 64 << 20

// collect frees the blocks that have been joined. The collector alone would let the heap grow to twice its size first,
// and the tables hold no pointers, so that this takes milliseconds.
func (m *merger) collect(large bool) {
	if large {
		runtime.GC()
	}
}

// tool tells PyTorch's traces from those of other tools.
func (m *merger) tool() string {
	for _, v := range m.t.Meta.Values {
		if v.Key == "schemaVersion" {
			return "pytorch"
		}
	}
	if len(m.t.Devices) > 0 {
		return "pytorch"
	}
	for _, c := range m.t.Categories {
		if c.Class == trace.ClassOp || c.Class == trace.ClassRuntime {
			return "pytorch"
		}
	}
	return "chrome"
}

const day = 24 * 3600 * int64(1e9)

// window sets the recorded window: what the events span, and the start and end that Kineto marks where those are
// believable. Device work without times (start and duration zero) and marks a day off do not count.
func (m *merger) window() {
	t := m.t
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	zero := 0
	see := func(from, to int64) { low, high = min(low, from), max(high, to) }
	m.slices.blocks(func(b []trace.Slice) {
		for i := range b {
			if s := &b[i]; s.Start != 0 || s.Dur != 0 {
				see(s.Start, s.End())
			} else {
				zero++
			}
		}
	})
	for i := range t.Memory {
		see(t.Memory[i].Time, t.Memory[i].Time)
	}
	m.values.blocks(func(b []counterValue) {
		for i := range b {
			see(b[i].time, b[i].time)
		}
	})
	m.samples.blocks(func(b []sampleEvent) {
		for i := range b {
			see(b[i].time, b[i].time)
		}
	})
	seen := low <= high
	for i := range t.Instants {
		// Differences are taken as unsigned, for times at both ends of the range.
		if at := t.Instants[i].Time; !seen || at >= low && uint64(at)-uint64(low) < uint64(day)+uint64(high)-uint64(low) || at < low && uint64(low)-uint64(at) < uint64(day) {
			see(at, at)
		}
	}
	if low > high {
		low, high = 0, 0
	}
	if zero > 0 && low > day {
		t.Problem("zero-times", int64(zero), "Events have neither start nor duration: their source lost the times.", "Update PyTorch or the driver's profiling library.")
	} else if zero > 0 {
		see(0, 0)
	}
	t.Meta.Start, t.Meta.End = low, high
}

// arrange moves the slices to the trace in the order of track, start and falling duration.
func (m *merger) arrange() {
	t := m.t
	if m.slices.n == 0 {
		return
	}
	next := make([]int, len(t.Tracks)+1)
	m.slices.blocks(func(b []trace.Slice) {
		for i := range b {
			next[b[i].Track+1]++
		}
	})
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	all := make([]trace.Slice, m.slices.n)
	place := func(b []trace.Slice) {
		for i := range b {
			k := b[i].Track
			all[next[k]] = b[i]
			next[k]++
		}
	}
	for i, b := range m.slices.full {
		place(b)
		m.slices.full[i] = nil
	}
	place(m.slices.last)
	m.slices = column[trace.Slice]{}
	from := 0
	for k := range t.Tracks {
		sortTrack(all[from:next[k]])
		from = next[k]
	}
	t.Slices = all
}

// sortTrack orders the slices of one track by start, longer ones first, keeping equal ones in their order. Sources write
// them almost in order, for which merging ascending runs is fast; slices.SortStableFunc would rotate blocks of 48 bytes.
func sortTrack(s []trace.Slice) {
	before := func(a, b *trace.Slice) bool {
		return a.Start < b.Start || a.Start == b.Start && a.Dur >= b.Dur
	}
	var runs []int // ends of ascending runs
	for i := 1; i < len(s); i++ {
		if !before(&s[i-1], &s[i]) {
			runs = append(runs, i)
		}
	}
	if len(runs) == 0 {
		return
	}
	runs = append(runs, len(s))
	var spare []trace.Slice
	for len(runs) > 1 {
		kept := runs[:0]
		from := 0
		for i := 0; i+1 < len(runs); i += 2 {
			mid, to := runs[i], runs[i+1]
			spare = append(spare[:0], s[from:mid]...)
			a, b, at := 0, mid, from
			for a < len(spare) {
				if b == to || before(&spare[a], &s[b]) {
					s[at] = spare[a]
					a++
				} else {
					s[at] = s[b]
					b++
				}
				at++
			}
			from = to
			kept = append(kept, to)
		}
		if len(runs)%2 == 1 {
			kept = append(kept, runs[len(runs)-1])
		}
		runs = kept
	}
}

// placeDevices makes device ids of the source indexes of t.Devices, adding devices that it uses without describing them,
// and tells tracks and processes which device they show.
func (m *merger) placeDevices() {
	t := m.t
	index := make(map[int64]trace.DeviceID)
	for i := range t.Devices {
		index[t.Devices[i].ID] = trace.DeviceID(i)
	}
	device := func(id int64) trace.DeviceID {
		n, ok := index[id]
		if !ok {
			if len(t.Devices) > maxValues {
				return trace.NoDevice
			}
			n = trace.DeviceID(len(t.Devices))
			t.Devices = append(t.Devices, trace.Device{ID: id})
			index[id] = n
		}
		return n
	}
	place := func(d *trace.DeviceID) {
		if *d >= 0 {
			*d = device(int64(*d))
		}
	}
	for i := range t.Kernels {
		place(&t.Kernels[i].Device)
	}
	for i := range t.Copies {
		place(&t.Copies[i].Device)
	}
	for i := range t.Syncs {
		place(&t.Syncs[i].Device)
	}
	for i := range t.Memory {
		place(&t.Memory[i].Device)
	}
	for from := 0; from < len(t.Slices); {
		k := t.Slices[from].Track
		to := from
		for to < len(t.Slices) && t.Slices[to].Track == k {
			to++
		}
		m.describe(&t.Tracks[k], t.Slices[from:to], device)
		from = to
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		if id, ok := labelled(p.Labels); ok && p.Device == trace.NoDevice {
			if n, ok := index[id]; ok {
				p.Device = n
			}
		}
	}
}

// describe tells a track what it is from the slices on it.
func (m *merger) describe(k *trace.Track, on []trace.Slice, device func(int64) trace.DeviceID) {
	t := m.t
	p := &t.Processes[k.Process]
	var counts [trace.NumClasses]int
	for i := range on {
		s := &on[i]
		class := t.Categories[s.Cat].Class
		counts[class]++
		if k.Device != trace.NoDevice {
			continue
		}
		switch {
		case s.Kind == trace.ArgKernel:
			a := &t.Kernels[s.Args]
			k.Device, k.Context = a.Device, max(0, a.Context)
		case s.Kind == trace.ArgCopy:
			a := &t.Copies[s.Args]
			k.Device, k.Context = a.Device, max(0, a.Context)
		}
	}
	onDevice := counts[trace.ClassKernel] + counts[trace.ClassMemcpy] + counts[trace.ClassMemset] + counts[trace.ClassDeviceAnnotation]
	switch {
	case k.Kind != trace.TrackThread:
	case onDevice > 0:
		k.Kind = trace.TrackStream
		if k.Device == trace.NoDevice {
			if id, ok := labelled(p.Labels); ok {
				k.Device = device(id)
			} else if p.Key == "" && p.PID >= 0 && p.PID < 256 {
				k.Device = device(p.PID)
			}
		}
		if p.Device == trace.NoDevice {
			p.Device = k.Device
		}
	case counts[trace.ClassGC]+counts[trace.ClassSTW] == len(on):
		k.Kind = trace.TrackRuntime
	case counts[trace.ClassState] == len(on):
		k.Kind = trace.TrackOther
	case strings.HasPrefix(k.Name, goroutineName):
		k.Kind = trace.TrackGoroutine
	case counts[trace.ClassTool]+counts[trace.ClassOverhead] == len(on), counts[trace.ClassSync] == len(on):
		k.Kind = trace.TrackOther
	}
	if k.Kind == trace.TrackThread {
		m.overlaps(on)
	}
}

// goroutineName begins the names of tracks that Gander writes for goroutines.
const goroutineName = "goroutine "

// labelled reads the device's id from the labels that Kineto gives to a process ("GPU 3").
func labelled(labels string) (int64, bool) {
	rest, ok := strings.CutPrefix(labels, "GPU ")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(rest, 10, 32)
	return n, err == nil && n >= 0
}

// rounding is how far slices of a thread may reach past the one around them without being counted: sources round.
const rounding = 1000

// overlaps counts slices of a thread that end after the one they begin in, which no tree can hold.
func (m *merger) overlaps(on []trace.Slice) {
	var open []int64 // ends
	n := int64(0)
	for i := range on {
		s := &on[i]
		for len(open) > 0 && open[len(open)-1] <= s.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && s.End() > open[len(open)-1] {
			if s.End()-open[len(open)-1] > rounding {
				n++
			}
			continue
		}
		open = append(open, s.End())
	}
	if n > 0 {
		m.t.Problem("overlapping-slices", n, "Slices of one thread overlap without one containing the other.", "")
	}
}
