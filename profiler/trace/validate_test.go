package trace

import (
	"math"
	"strings"
	"testing"
)

func TestValidateFinds(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(x *Trace)
	}{
		{"window", func(x *Trace) { x.Meta.End = x.Meta.Start - 1 }},
		{"string 0", func(x *Trace) { x.Strings.SetList([]string{"x"}) }},
		{"category 0", func(x *Trace) { x.Categories[0].Name = "x" }},
		{"category 1", func(x *Trace) { x.Categories[1].Class = NumClasses }},
		{"process 1", func(x *Trace) { x.Processes[1].Device = 1 }},
		{"track 2", func(x *Trace) { x.Tracks[2].Process = 9 }},
		{"track 0", func(x *Trace) { x.Tracks[0].Kind = 99 }},
		{"frame 1", func(x *Trace) { x.Frames[1].File = 9999 }},
		{"stack 0", func(x *Trace) { x.Stacks[0].Frame = 1 }},
		{"stack 2", func(x *Trace) { x.Stacks[2].Parent = 2 }},
		{"slice 3 has track", func(x *Trace) { x.Slices[3].Track = 99 }},
		{"slice 3 has track", func(x *Trace) { x.Slices[3].Track = NoTrack }},
		{"slice 3 has name", func(x *Trace) { x.Slices[3].Name = 9999 }},
		{"slice 3 has category", func(x *Trace) { x.Slices[3].Cat = 9999 }},
		{"slice 3 starts", func(x *Trace) { x.Slices[3].Dur = -1 }},
		{"slice 3 starts", func(x *Trace) { x.Slices[3].Start, x.Slices[3].Dur = 10, math.MaxInt64 }},
		{"slice 3 has arguments", func(x *Trace) { x.Slices[3].Kind, x.Slices[3].Args = ArgOp, 0 }},
		{"slice 3 has arguments", func(x *Trace) { x.Slices[3].Kind, x.Slices[3].Args = ArgKernel, 2 }},
		{"slice 3 has arguments", func(x *Trace) { x.Slices[3].Kind = 77 }},
		{"out of order", func(x *Trace) { x.Slices[0], x.Slices[5] = x.Slices[5], x.Slices[0] }},
		{"instant 1", func(x *Trace) { x.Instants[1].Track = 99 }},
		{"scope", func(x *Trace) { x.Instants[1].Scope = 'x' }},
		{"flow 0", func(x *Trace) { x.Flows[0].FromTrack = 99 }},
		{"flow 0 is bound", func(x *Trace) { x.Flows[0].From = int32(len(x.Slices)) }},
		{"flow 0 is bound", func(x *Trace) { x.Flows[0].FromTrack, x.Flows[0].From = 0, int32(len(x.Slices)-1) }},
		{"times and", func(x *Trace) { x.Counters[0].Times = x.Counters[0].Times[:1] }},
		{"back in time", func(x *Trace) { x.Counters[0].Times[2] = 0 }},
		{"has value", func(x *Trace) { x.Counters[0].Values[2] = math.NaN() }},
		{"counter \"heap\" has process", func(x *Trace) { x.Counters[0].Device = 3 }},
		{"memory event 1", func(x *Trace) { x.Memory[1].Stack = 99 }},
		{"memory event", func(x *Trace) { x.Memory[0].Time = 1 << 40 }},
		{"sample 0", func(x *Trace) { x.Samples[0].Stack = 99 }},
		{"sample 0", func(x *Trace) { x.Samples[0].Kind = 99 }},
		{"operator", func(x *Trace) { x.Ops[1].Extra = 9999 }},
		{"a call", func(x *Trace) { x.Calls[1].Stack = 9999 }},
		{"arguments 1", func(x *Trace) { x.Generics[1].JSON = 9999 }},
		{"a kernel", func(x *Trace) { x.Kernels[1].Occupancy = float32(math.Inf(1)) }},
		{"a kernel", func(x *Trace) { x.Kernels[1].Device = 1 }},
		{"a copy", func(x *Trace) { x.Copies[1].Bandwidth = math.NaN() }},
		{"a synchronisation", func(x *Trace) { x.Syncs[1].Kind = 9999 }},
	} {
		x := everything(1)
		c.spoil(x)
		if err := x.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
