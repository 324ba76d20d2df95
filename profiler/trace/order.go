package trace

import (
	"cmp"
	"slices"
)

// compareSlices is the order of Trace.Slices: by track, then start, then the longer one first, so that a parent comes
// before its children.
func compareSlices(a, b Slice) int {
	if a.Track != b.Track {
		return cmp.Compare(a.Track, b.Track)
	}
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	return cmp.Compare(b.Dur, a.Dur)
}

// Sort brings slices, instants, counters, memory events and samples into the order that Validate demands. Equal ones
// keep their order. It does not fix Flow.From and Flow.To: call Bind after it.
func (t *Trace) Sort() {
	if !slices.IsSortedFunc(t.Slices, compareSlices) {
		slices.SortStableFunc(t.Slices, compareSlices)
	}
	byTime := func(a, b Instant) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(t.Instants, byTime) {
		slices.SortStableFunc(t.Instants, byTime)
	}
	memTime := func(a, b MemEvent) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(t.Memory, memTime) {
		slices.SortStableFunc(t.Memory, memTime)
	}
	sampleTime := func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(t.Samples, sampleTime) {
		slices.SortStableFunc(t.Samples, sampleTime)
	}
	for i := range t.Counters {
		t.Counters[i].sort()
	}
}

func (c *Counter) sort() {
	if slices.IsSorted(c.Times) || len(c.Times) != len(c.Values) {
		return
	}
	by := make([]int, len(c.Times))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(c.Times[a], c.Times[b]) })
	times, values := make([]int64, len(by)), make([]float64, len(by))
	for i, j := range by {
		times[i], values[i] = c.Times[j], c.Values[j]
	}
	c.Times, c.Values = times, values
}

// Clone returns a copy of t that shares nothing that Sort, Bind or appending could change.
func (t *Trace) Clone() *Trace {
	c := *t
	c.Strings.SetList(slices.Clone(t.Strings.list))
	c.Meta.Values = slices.Clone(t.Meta.Values)
	c.Categories = slices.Clone(t.Categories)
	c.Processes = slices.Clone(t.Processes)
	c.Tracks = slices.Clone(t.Tracks)
	c.Slices = slices.Clone(t.Slices)
	c.Instants = slices.Clone(t.Instants)
	c.Flows = slices.Clone(t.Flows)
	c.Counters = slices.Clone(t.Counters)
	for i := range c.Counters {
		c.Counters[i].Times = slices.Clone(c.Counters[i].Times)
		c.Counters[i].Values = slices.Clone(c.Counters[i].Values)
	}
	c.Memory = slices.Clone(t.Memory)
	c.Stacks = slices.Clone(t.Stacks)
	c.Frames = slices.Clone(t.Frames)
	c.Samples = slices.Clone(t.Samples)
	c.Ops = slices.Clone(t.Ops)
	c.Calls = slices.Clone(t.Calls)
	c.Kernels = slices.Clone(t.Kernels)
	c.Copies = slices.Clone(t.Copies)
	c.Syncs = slices.Clone(t.Syncs)
	c.Generics = slices.Clone(t.Generics)
	c.Devices = slices.Clone(t.Devices)
	c.Problems = slices.Clone(t.Problems)
	c.Attachments = slices.Clone(t.Attachments)
	return &c
}
