package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// maxArgs bounds how many distinct sets of arguments a timeline carries; later ones are dropped from the picture only.
const maxArgs = 50_000

// arg returns the index of the arguments of s as the details of the timeline show them, 0 for none.
func (b *timelineBuilder) arg(s *trace.Slice) uint32 {
	if s.Kind == trace.NoArgs || s.Args == 0 {
		return 0
	}
	k := [2]uint32{uint32(s.Kind), s.Args}
	if id, ok := b.perArg[k]; ok {
		return id
	}
	m := b.describe(s)
	var id uint32
	if len(m) > 0 {
		text, err := json.Marshal(m)
		if err != nil {
			return 0 // a map of strings always marshals
		}
		var ok bool
		if id, ok = b.args[string(text)]; !ok && len(b.part.Args) < maxArgs {
			id = uint32(len(b.part.Args))
			b.args[string(text)] = id
			b.part.Args = append(b.part.Args, m)
		}
	}
	b.perArg[k] = id
	return id
}

// describe lists the arguments that help to understand a slice. Ids that are unique per event are left to the flows.
func (b *timelineBuilder) describe(s *trace.Slice) map[string]string {
	t, m, i := b.t, map[string]string{}, int(s.Args)
	put := func(k, v string) {
		if v != "" && v != "0" && v != "[]" {
			m[k] = clipText(strings.ToValidUTF8(v, ""), 400)
		}
	}
	str := func(k string, id trace.StringID) { put(k, t.Strings.Get(id)) }
	switch s.Kind {
	case trace.ArgOp:
		if i < len(t.Ops) {
			a := &t.Ops[i]
			str("Input shapes", a.Dims)
			str("Input types", a.Types)
			str("Concrete inputs", a.Concrete)
			str("Strides", a.Strides)
			str("Module", a.Module)
			if a.FLOPs > 0 {
				put("FLOPs", formatValue(UnitFlops, float64(a.FLOPs), ""))
			}
			if a.Bytes > 0 {
				put("Bytes accessed", formatBytes(float64(a.Bytes)))
			}
			str("Call stack", a.StackText)
			put("Stack", b.stack(a.Stack))
		}
	case trace.ArgCall:
		if i < len(t.Calls) {
			str("Arguments", t.Calls[i].Shapes)
			put("Stack", b.stack(t.Calls[i].Stack))
		}
	case trace.ArgKernel:
		if i < len(t.Kernels) {
			a := &t.Kernels[i]
			put("Grid", dim3(a.Grid))
			put("Block", dim3(a.Block))
			put("Registers per thread", positive(float64(a.Registers)))
			if a.SharedMem > 0 {
				put("Shared memory", formatBytes(float64(a.SharedMem)))
			}
			put("Blocks per SM", positive(float64(a.BlocksPerSM)))
			put("Warps per SM", positive(float64(a.WarpsPerSM)))
			if a.Occupancy > 0 {
				put("Est. achieved occupancy", positive(float64(a.Occupancy))+" %")
			}
			put("Stream", strconv.FormatInt(a.Stream, 10))
		}
	case trace.ArgCopy:
		if i < len(t.Copies) {
			a := &t.Copies[i]
			put("Size", formatBytes(float64(a.Bytes)))
			if s.Dur > 0 && a.Bytes > 0 {
				put("Bandwidth", formatValue(UnitRate, float64(a.Bytes)/float64(s.Dur)*1e9, ""))
			}
			put("Stream", strconv.FormatInt(a.Stream, 10))
		}
	case trace.ArgSync:
		if i < len(t.Syncs) {
			str("Kind", t.Syncs[i].Kind)
		}
	case trace.ArgGeneric:
		if i < len(t.Generics) {
			b.generic(t.Strings.Get(t.Generics[i].JSON), put)
		}
	}
	return m
}

// generic spreads the first forty members of a JSON object; anything else is shown as it is.
func (b *timelineBuilder) generic(text string, put func(k, v string)) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &m) != nil {
		put("Arguments", text)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m))[:min(len(m), 40)] {
		v := m[k]
		switch k {
		case "External id", "correlation", "Ev Idx", "Record function id":
			continue
		}
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		put(clipText(strings.ToValidUTF8(k, ""), 60), s)
	}
}

// stack writes the innermost frames of a call stack, one after the other.
func (b *timelineBuilder) stack(id trace.StackID) string {
	t := b.t
	var out []string
	for n := 0; id != 0 && int(id) < len(t.Stacks) && n < 8; n++ {
		if f := t.Stacks[id].Frame; int(f) < len(t.Frames) {
			fr := &t.Frames[f]
			out = append(out, fmt.Sprintf("%s %s:%d", t.Strings.Get(fr.Func), base(t.Strings.Get(fr.File)), fr.Line))
		}
		id = t.Stacks[id].Parent
	}
	return strings.Join(out, " ← ")
}

func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func dim3(v [3]int32) string {
	if v[0] <= 0 {
		return ""
	}
	return fmt.Sprintf("%d × %d × %d", v[0], v[1], v[2])
}

func positive(v float64) string {
	if v <= 0 {
		return ""
	}
	return formatValue(UnitNumber, v, "")
}
