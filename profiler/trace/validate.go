package trace

import (
	"fmt"
	"math"
)

// Validate reports the first way in which t breaks what readers of a Trace rely on: every id indexes what it names,
// index 0 of tables that promise it is the zero row, slices and memory events are ordered, no duration is negative and no
// time overflows, and all floats are finite. It costs a few milliseconds a million slices.
func (t *Trace) Validate() error {
	c := checker{t: t, strings: StringID(t.Strings.Len()), tracks: TrackID(len(t.Tracks)), devices: DeviceID(len(t.Devices)), stacks: StackID(max(1, len(t.Stacks)))}
	if list := t.Strings.List(); len(list) > 0 && list[0] != "" {
		return fmt.Errorf("validating trace: string 0 is %q, must be empty", list[0])
	}
	for _, check := range []func() error{
		c.meta, c.places, c.slices, c.instants, c.flows, c.counters, c.memory, c.samples, c.hostArgs, c.deviceArgs,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("validating trace: %w", err)
		}
	}
	return nil
}

type checker struct {
	t       *Trace
	strings StringID
	tracks  TrackID
	devices DeviceID
	stacks  StackID
}

func (c *checker) str(ids ...StringID) bool {
	for _, id := range ids {
		if id >= c.strings {
			return false
		}
	}
	return true
}

func (c *checker) trackOrNone(id TrackID) bool { return id >= NoTrack && id < c.tracks }
func (c *checker) device(id DeviceID) bool     { return id >= NoDevice && id < c.devices }
func (c *checker) stack(id StackID) bool       { return id < c.stacks }
func (c *checker) process(id ProcessID) bool {
	return id >= NoProcess && int(id) < len(c.t.Processes)
}

func finite(list ...float64) bool {
	for _, f := range list {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

func (c *checker) meta() error {
	if c.t.Meta.End < c.t.Meta.Start {
		return fmt.Errorf("the window ends at %d, before it starts at %d", c.t.Meta.End, c.t.Meta.Start)
	}
	return nil
}

// places checks what other tables refer to: categories, processes, tracks, frames and stacks.
func (c *checker) places() error {
	t := c.t
	for i, k := range t.Categories {
		if k.Class >= NumClasses || i == 0 && k != (Category{}) {
			return fmt.Errorf("category %d is %+v", i, k)
		}
	}
	for i, p := range t.Processes {
		if !c.device(p.Device) {
			return fmt.Errorf("process %d has device %d of %d", i, p.Device, c.devices)
		}
	}
	for i, k := range t.Tracks {
		if !c.process(k.Process) || k.Kind > TrackOther || !c.device(k.Device) {
			return fmt.Errorf("track %d has process %d, kind %d, device %d", i, k.Process, k.Kind, k.Device)
		}
	}
	for i, f := range t.Frames {
		if !c.str(f.Func, f.File) {
			return fmt.Errorf("frame %d has strings %d and %d of %d", i, f.Func, f.File, c.strings)
		}
	}
	for i, s := range t.Stacks {
		if i == 0 {
			if s != (Stack{}) {
				return fmt.Errorf("stack 0 is %+v, must be empty", s)
			}
			continue
		}
		if int(s.Parent) >= i || int(s.Frame) >= len(t.Frames) {
			return fmt.Errorf("stack %d has parent %d and frame %d of %d", i, s.Parent, s.Frame, len(t.Frames))
		}
	}
	return nil
}

func (c *checker) slices() error {
	t := c.t
	rows := [...]int{NoArgs: 0, ArgOp: len(t.Ops), ArgCall: len(t.Calls), ArgKernel: len(t.Kernels), ArgCopy: len(t.Copies),
		ArgSync: len(t.Syncs), ArgGeneric: len(t.Generics)}
	for i := range t.Slices {
		s := &t.Slices[i]
		switch {
		case s.Track < 0 || s.Track >= c.tracks:
			return fmt.Errorf("slice %d has track %d of %d", i, s.Track, c.tracks)
		case s.Name >= c.strings:
			return fmt.Errorf("slice %d has name %d of %d", i, s.Name, c.strings)
		case int(s.Cat) >= len(t.Categories):
			return fmt.Errorf("slice %d has category %d of %d", i, s.Cat, len(t.Categories))
		case s.Dur < 0 || s.Start > math.MaxInt64-s.Dur:
			return fmt.Errorf("slice %d starts at %d and takes %d", i, s.Start, s.Dur)
		case int(s.Kind) >= len(rows):
			return fmt.Errorf("slice %d has arguments of kind %d", i, s.Kind)
		case s.Kind != NoArgs && (s.Args == 0 || int(s.Args) >= rows[s.Kind]):
			return fmt.Errorf("slice %d has arguments %d of %d (kind %d)", i, s.Args, rows[s.Kind], s.Kind)
		case i > 0 && compareSlices(t.Slices[i-1], *s) > 0:
			return fmt.Errorf("slice %d (track %d, start %d, duration %d) is out of order", i, s.Track, s.Start, s.Dur)
		}
	}
	return nil
}

func (c *checker) instants() error {
	for i := range c.t.Instants {
		e := &c.t.Instants[i]
		if !c.trackOrNone(e.Track) || !c.str(e.Name, e.Args) || int(e.Cat) >= len(c.t.Categories) {
			return fmt.Errorf("instant %d has track %d, name %d, category %d, arguments %d", i, e.Track, e.Name, e.Cat, e.Args)
		}
		if e.Scope != 'g' && e.Scope != 'p' && e.Scope != 't' {
			return fmt.Errorf("instant %d has scope %q", i, e.Scope)
		}
	}
	return nil
}

func (c *checker) flows() error {
	for i := range c.t.Flows {
		f := &c.t.Flows[i]
		if f.Kind > FlowWake || !c.str(f.Name, f.Cat) || !c.trackOrNone(f.FromTrack) || !c.trackOrNone(f.ToTrack) {
			return fmt.Errorf("flow %d has kind %d, tracks %d and %d", i, f.Kind, f.FromTrack, f.ToTrack)
		}
		if !c.bound(f.From, f.FromTrack) || !c.bound(f.To, f.ToTrack) {
			return fmt.Errorf("flow %d is bound to slices %d and %d, on tracks %d and %d", i, f.From, f.To, f.FromTrack, f.ToTrack)
		}
	}
	return nil
}

func (c *checker) bound(slice int32, track TrackID) bool {
	if slice == NoSlice {
		return true
	}
	return slice >= 0 && int(slice) < len(c.t.Slices) && c.t.Slices[slice].Track == track
}

func (c *checker) counters() error {
	for i := range c.t.Counters {
		k := &c.t.Counters[i]
		if len(k.Times) != len(k.Values) {
			return fmt.Errorf("counter %q has %d times and %d values", k.Name, len(k.Times), len(k.Values))
		}
		if !c.process(k.Process) || !c.trackOrNone(k.Track) || !c.device(k.Device) {
			return fmt.Errorf("counter %q has process %d, track %d, device %d", k.Name, k.Process, k.Track, k.Device)
		}
		for j := range k.Times {
			if j > 0 && k.Times[j] < k.Times[j-1] {
				return fmt.Errorf("counter %q goes back in time at value %d", k.Name, j)
			}
			if !finite(k.Values[j]) {
				return fmt.Errorf("counter %q has value %v at %d", k.Name, k.Values[j], j)
			}
		}
	}
	return nil
}

func (c *checker) memory() error {
	for i := range c.t.Memory {
		m := &c.t.Memory[i]
		if !c.trackOrNone(m.Track) || !c.device(m.Device) || !c.str(m.Name) || !c.stack(m.Stack) || m.Space > MemOther {
			return fmt.Errorf("memory event %d has track %d, device %d, name %d, stack %d", i, m.Track, m.Device, m.Name, m.Stack)
		}
		if i > 0 && m.Time < c.t.Memory[i-1].Time {
			return fmt.Errorf("memory event %d is out of order", i)
		}
	}
	return nil
}

func (c *checker) samples() error {
	for i := range c.t.Samples {
		s := &c.t.Samples[i]
		if !c.trackOrNone(s.Track) || !c.stack(s.Stack) || !c.str(s.Span) || s.Kind > SampleMutex {
			return fmt.Errorf("sample %d has track %d, stack %d, span %d, kind %d", i, s.Track, s.Stack, s.Span, s.Kind)
		}
	}
	return nil
}

func (c *checker) hostArgs() error {
	for i := range c.t.Ops {
		a := &c.t.Ops[i]
		if !c.str(a.Dims, a.Strides, a.Types, a.Concrete, a.StackText, a.Module, a.Extra) || !c.stack(a.Stack) {
			return fmt.Errorf("arguments %d of an operator are %+v", i, *a)
		}
	}
	for i := range c.t.Calls {
		if a := &c.t.Calls[i]; !c.str(a.Shapes, a.Extra) || !c.stack(a.Stack) {
			return fmt.Errorf("arguments %d of a call are %+v", i, *a)
		}
	}
	for i, a := range c.t.Generics {
		if !c.str(a.JSON) {
			return fmt.Errorf("arguments %d are string %d of %d", i, a.JSON, c.strings)
		}
	}
	return nil
}

func (c *checker) deviceArgs() error {
	for i := range c.t.Kernels {
		a := &c.t.Kernels[i]
		if !c.str(a.Extra) || i > 0 && !c.device(a.Device) || !finite(float64(a.BlocksPerSM), float64(a.WarpsPerSM), float64(a.Occupancy)) {
			return fmt.Errorf("arguments %d of a kernel are %+v", i, *a)
		}
	}
	for i := range c.t.Copies {
		if a := &c.t.Copies[i]; !c.str(a.Extra) || i > 0 && !c.device(a.Device) || !finite(a.Bandwidth) {
			return fmt.Errorf("arguments %d of a copy are %+v", i, *a)
		}
	}
	for i := range c.t.Syncs {
		if a := &c.t.Syncs[i]; !c.str(a.Kind, a.Extra) || i > 0 && !c.device(a.Device) {
			return fmt.Errorf("arguments %d of a synchronisation are %+v", i, *a)
		}
	}
	return nil
}
