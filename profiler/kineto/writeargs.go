package kineto

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// What a text of the model is as JSON.
const (
	isNone   = -1
	isJSON   = 1
	isObject = 2
)

// kind says what the text of id is, checking it once. A trace may come from anywhere: what is written must be JSON.
func (x *writer) kind(id trace.StringID) int8 {
	if x.valid == nil {
		x.valid = make([]int8, x.t.Strings.Len())
	}
	if int(id) >= len(x.valid) {
		return isNone
	}
	if x.valid[id] == 0 {
		s := x.t.Strings.Get(id)
		switch {
		case !json.Valid([]byte(s)):
			x.valid[id] = isNone
		case s[0] == '{' && s[len(s)-1] == '}':
			x.valid[id] = isObject
		default:
			x.valid[id] = isJSON
		}
	}
	return x.valid[id]
}

// arg begins a member of the arguments.
func (x *writer) arg(k argKey) {
	if last := x.b[len(x.b)-1]; last != '{' {
		x.b = append(x.b, ',')
	}
	x.b = append(append(append(x.b, '"'), keyNames[k]...), '"', ':')
}

func (x *writer) argInt(k argKey, v int64) {
	x.arg(k)
	x.b = strconv.AppendInt(x.b, v, 10)
}

// argKnown writes v unless it is negative, which means unknown.
func (x *writer) argKnown(k argKey, v int64) {
	if v >= 0 {
		x.argInt(k, v)
	}
}

func (x *writer) argFloat(k argKey, v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	x.arg(k)
	x.b = strconv.AppendFloat(x.b, v, 'g', -1, bits)
}

func (x *writer) argText(k argKey, id trace.StringID) {
	if id != 0 {
		x.arg(k)
		x.string(id)
	}
}

// argJSON writes a text that is JSON, or as a string where it is none.
func (x *writer) argJSON(k argKey, id trace.StringID) {
	switch {
	case id == 0:
	case x.kind(id) == isNone:
		x.argText(k, id)
	default:
		x.arg(k)
		x.b = append(x.b, x.t.Strings.Get(id)...)
	}
}

func (x *writer) argTriple(k argKey, v [3]int32) {
	if v[0] < 0 {
		return
	}
	x.arg(k)
	for i, n := range v {
		x.b = strconv.AppendInt(append(x.b, "[,,"[i]), int64(n), 10)
	}
	x.b = append(x.b, ']')
}

// others writes the members of an object of arguments that have no place.
func (x *writer) others(id trace.StringID) {
	if id == 0 {
		return
	}
	s := x.t.Strings.Get(id)
	if x.kind(id) == isObject {
		if s = s[1 : len(s)-1]; s == "" {
			return
		}
		if x.b[len(x.b)-1] != '{' {
			x.b = append(x.b, ',')
		}
		x.b = append(x.b, s...)
		return
	}
	if x.b[len(x.b)-1] != '{' {
		x.b = append(x.b, ',')
	}
	x.b = append(x.b, `"extra":`...)
	x.string(id)
}

// args writes the arguments of a slice.
func (x *writer) args(s *trace.Slice) {
	t := x.t
	x.b = append(x.b, `,"args":{`...)
	if s.Ext != 0 && s.Flags&trace.FlagAsync == 0 {
		x.argInt(keyExternalID, s.Ext)
	}
	switch s.Kind {
	case trace.ArgOp:
		x.op(&t.Ops[s.Args])
	case trace.ArgCall:
		x.call(&t.Calls[s.Args])
	case trace.ArgKernel:
		x.kernel(&t.Kernels[s.Args])
	case trace.ArgCopy:
		a := &t.Copies[s.Args]
		x.where(a.Device, a.Context, a.Stream)
		x.argInt(keyBytes, a.Bytes)
		if a.Bandwidth != 0 {
			x.argFloat(keyBandwidth, a.Bandwidth, 64)
		}
		x.argKnown(keyGraphID, a.GraphID)
		x.argKnown(keyGraphNode, a.GraphNode)
		x.others(a.Extra)
	case trace.ArgSync:
		a := &t.Syncs[s.Args]
		x.argText(keySyncKind, a.Kind)
		x.where(a.Device, a.Context, a.Stream)
		x.argKnown(keyWaitStream, a.WaitStream)
		x.argKnown(keyWaitEvent, a.WaitEvent)
		x.argKnown(keyWaitRecord, a.WaitRecordCorr)
		x.others(a.Extra)
	case trace.ArgGeneric:
		x.others(t.Generics[s.Args].JSON)
	}
	if s.Corr != 0 {
		x.argInt(keyCorrelation, s.Corr)
	}
	if s.Flags&trace.FlagUnfinished != 0 {
		x.arg(keyFinished)
		x.b = append(x.b, "false"...)
	}
	if n := len(x.b) - len(`,"args":{`); x.b[len(x.b)-1] == '{' {
		x.b = x.b[:n]
		return
	}
	x.b = append(x.b, '}')
}

func (x *writer) op(a *trace.OpArgs) {
	if a.RecordFunc != 0 {
		x.argInt(keyRecordFunc, a.RecordFunc)
	}
	if a.Sequence != trace.NoSequence {
		x.argInt(keySequence, a.Sequence)
		x.argInt(keyFwdThread, a.FwdThread)
	}
	x.argJSON(keyConcrete, a.Concrete)
	x.argJSON(keyTypes, a.Types)
	x.argJSON(keyStrides, a.Strides)
	x.argJSON(keyDims, a.Dims)
	x.argText(keyCallStack, a.StackText)
	if a.StackText == 0 {
		x.stack(a.Stack)
	}
	x.argText(keyModuleHierarchy, a.Module)
	if a.FLOPs != 0 {
		x.argInt(keyFLOPs, a.FLOPs)
	}
	if a.Bytes != 0 {
		x.argInt(keyOpBytes, a.Bytes)
	}
	x.index(a.Index)
	x.others(a.Extra)
}

func (x *writer) call(a *trace.CallArgs) {
	x.argKnown(keyPythonParent, a.Parent)
	x.argKnown(keyPythonID, a.ID)
	x.argKnown(keyPythonModule, a.Module)
	x.argText(keyShapes, a.Shapes)
	x.stack(a.Stack)
	x.index(a.Index)
	x.others(a.Extra)
}

func (x *writer) kernel(a *trace.KernelArgs) {
	x.argKnown(keyQueued, a.Queued)
	x.where(a.Device, a.Context, a.Stream)
	x.argKnown(keyRegisters, int64(a.Registers))
	x.argKnown(keySharedMem, int64(a.SharedMem))
	if a.BlocksPerSM >= 0 {
		x.argFloat(keyBlocksPerSM, float64(a.BlocksPerSM), 32)
	}
	if a.WarpsPerSM >= 0 {
		x.argFloat(keyWarpsPerSM, float64(a.WarpsPerSM), 32)
	}
	x.argTriple(keyGrid, a.Grid)
	x.argTriple(keyBlock, a.Block)
	if a.Occupancy >= 0 {
		x.argFloat(keyOccupancy, float64(a.Occupancy), 32)
	}
	x.argKnown(keyGraphID, a.GraphID)
	x.argKnown(keyGraphNode, a.GraphNode)
	x.others(a.Extra)
}

func (x *writer) where(d trace.DeviceID, context, stream int64) {
	if d >= 0 && int(d) < len(x.t.Devices) {
		x.argInt(keyDevice, x.t.Devices[d].ID)
	}
	x.argKnown(keyContext, context)
	x.argKnown(keyStream, stream)
}

func (x *writer) index(n int32) {
	if n > 0 {
		x.argInt(keyEvIdx, int64(n-1))
	}
}

// stack writes a call stack, innermost frame first and joined as PyTorch joins them.
func (x *writer) stack(id trace.StackID) {
	if id == 0 {
		return
	}
	var text []byte
	for n := 0; id != 0 && int(id) < len(x.t.Stacks) && n < maxDepth; n++ {
		f := x.t.Frames[x.t.Stacks[id].Frame]
		if n > 0 {
			text = append(text, ';')
		}
		text = append(text, x.t.Strings.Get(f.File)...)
		text = append(strconv.AppendInt(append(text, '('), int64(f.Line), 10), "): "...)
		text = append(text, x.t.Strings.Get(f.Func)...)
		id = x.t.Stacks[id].Parent
	}
	x.arg(keyCallStack)
	x.b = quote(x.b, string(text))
}

func (x *writer) memory() {
	t := x.t
	for i := range t.Memory {
		m := &t.Memory[i]
		x.event('i')
		x.b = append(x.b, `,"s":"t","cat":"cpu_instant_event","name":`...)
		if m.OOM {
			x.b = append(x.b, `"[OutOfMemory]"`...)
		} else {
			x.b = append(x.b, `"[memory]"`...)
		}
		x.on(m.Track)
		x.time("ts", m.Time)
		x.b = append(x.b, `,"args":{`...)
		x.argKnown(keyReserved, m.Reserved)
		x.argKnown(keyAllocated, m.Allocated)
		x.argInt(keyMemBytes, m.Bytes)
		if m.Addr != 0 {
			x.arg(keyAddr)
			x.b = strconv.AppendUint(x.b, m.Addr, 10)
		}
		kind, id := m.DeviceRaw, int64(m.IDRaw)
		if kind == 0 && m.Space == trace.MemDevice {
			kind = 1
			if m.Device >= 0 && int(m.Device) < len(t.Devices) {
				id = t.Devices[m.Device].ID
			}
		}
		x.argInt(keyDeviceID, id)
		x.argInt(keyDeviceType, int64(kind))
		x.argText(keyName, m.Name)
		x.index(m.Index)
		x.b = append(x.b, '}')
		x.end()
	}
}

// samples writes the samples that have a time; footer adds the stacks they refer to.
func (x *writer) samples() {
	t := x.t
	x.used = make([]bool, len(t.Stacks))
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.Kind != trace.SampleCPU || s.Time == trace.NoTime {
			continue
		}
		x.event('P')
		x.b = append(x.b, `,"name":"cpu"`...)
		x.on(s.Track)
		x.time("ts", s.Time)
		x.b = append(strconv.AppendUint(append(x.b, `,"sf":"`...), uint64(s.Stack), 10), '"')
		x.b = append(strconv.AppendInt(append(x.b, `,"args":{"weight":`...), s.Weight, 10), '}')
		x.end()
		for id := s.Stack; id != 0 && int(id) < len(x.used) && !x.used[id]; id = t.Stacks[id].Parent {
			x.used[id] = true
		}
	}
}

// footer ends the events and writes what had to wait for them.
func (x *writer) footer() {
	x.b = append(x.b, "\n]"...)
	first := true
	for id, used := range x.used {
		if !used {
			continue
		}
		if first {
			x.b = append(x.b, ",\n\"stackFrames\":{"...)
		} else {
			x.b = append(x.b, ',')
		}
		first = false
		if len(x.b) > flushAt {
			x.flush()
		}
		s := x.t.Stacks[id]
		f := x.t.Frames[s.Frame]
		x.b = append(strconv.AppendInt(append(x.b, "\n\""...), int64(id), 10), `":{"name":`...)
		x.string(f.Func)
		x.b = append(x.b, `,"category":`...)
		x.string(f.File)
		x.b = strconv.AppendInt(append(x.b, `,"line":`...), int64(f.Line), 10)
		if s.Parent != 0 {
			x.b = append(strconv.AppendInt(append(x.b, `,"parent":"`...), int64(s.Parent), 10), '"')
		}
		x.b = append(x.b, '}')
	}
	if !first {
		x.b = append(x.b, '}')
	}
	x.b = append(x.b, "\n}\n"...)
	x.flush()
}
