package kineto

import (
	"math"

	"github.com/gander-go/gander/profiler/trace"
)

// int takes argument k as a whole number, or returns absent. An argument that is there but no whole number stays with
// those that have no place.
func (s *scanner) int(e *event, k argKey, absent int64) (n int64, ok bool) {
	if !e.has(k) {
		return absent, false
	}
	if n, ok = integer(e.known[k].of(e.b)); !ok {
		return absent, false
	}
	e.take(k)
	return n, true
}

// int32 is int for places of 32 bits.
func (s *scanner) int32(e *event, k argKey, absent int32) int32 {
	if !e.has(k) {
		return absent
	}
	n, ok := integer(e.known[k].of(e.b))
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		return absent
	}
	e.take(k)
	return int32(n)
}

// float is int for numbers.
func (s *scanner) float(e *event, k argKey, absent float64) float64 {
	if !e.has(k) {
		return absent
	}
	f, ok := number(e.known[k].of(e.b))
	if !ok || math.Abs(f) > math.MaxFloat32 {
		return absent // some places are 32 bits wide
	}
	e.take(k)
	return f
}

// triple is int for grids and blocks.
func (s *scanner) triple(e *event, k argKey) [3]int32 {
	if e.has(k) {
		if t, ok := triple(e.known[k].of(e.b)); ok {
			e.take(k)
			return t
		}
	}
	return [3]int32{-1, -1, -1}
}

// index takes the event index, of which the model keeps one more so that zero means none.
func (s *scanner) index(e *event) int32 {
	if n := s.int32(e, keyEvIdx, -1); n >= 0 && n < math.MaxInt32 {
		return n + 1
	}
	return 0
}

// jsonText takes argument k as a JSON value.
func (s *scanner) jsonText(e *event, k argKey) trace.StringID {
	if !e.has(k) {
		return 0
	}
	return s.json(e.take(k))
}

// plainText takes argument k as text if it is a string.
func (s *scanner) plainText(e *event, k argKey) trace.StringID {
	if !e.has(k) || e.b[e.known[k].from] != '"' {
		return 0
	}
	return s.text(e.take(k))
}

// args makes the arguments of e an entry of the side table that kind names.
func (s *scanner) args(e *event, kind trace.ArgKind) (trace.ArgKind, uint32) {
	if e.set == 0 && len(e.others) == 0 && kind != trace.ArgKernel && kind != trace.ArgCopy {
		return trace.NoArgs, 0
	}
	b := s.out
	switch kind {
	case trace.ArgOp:
		b.ops = append(b.ops, s.op(e))
		return kind, uint32(len(b.ops))
	case trace.ArgCall:
		b.calls = append(b.calls, s.call(e))
		return kind, uint32(len(b.calls))
	case trace.ArgKernel:
		b.kernels = append(b.kernels, s.kernel(e))
		return kind, uint32(len(b.kernels))
	case trace.ArgCopy:
		b.copies = append(b.copies, s.copy(e))
		return kind, uint32(len(b.copies))
	case trace.ArgSync:
		b.syncs = append(b.syncs, s.sync(e))
		return kind, uint32(len(b.syncs))
	}
	b.generics = append(b.generics, trace.GenericArgs{JSON: s.object(e)})
	return trace.ArgGeneric, uint32(len(b.generics))
}

func (s *scanner) op(e *event) (a trace.OpArgs) {
	a.Index = s.index(e)
	a.RecordFunc, _ = s.int(e, keyRecordFunc, 0)
	a.Dims = s.jsonText(e, keyDims)
	a.Strides = s.jsonText(e, keyStrides)
	a.Types = s.jsonText(e, keyTypes)
	a.Concrete = s.jsonText(e, keyConcrete)
	a.StackText = s.plainText(e, keyCallStack)
	a.Module = s.plainText(e, keyModuleHierarchy)
	a.Sequence, _ = s.int(e, keySequence, trace.NoSequence)
	a.FwdThread, _ = s.int(e, keyFwdThread, 0)
	a.FLOPs, _ = s.int(e, keyFLOPs, 0)
	a.Bytes, _ = s.int(e, keyOpBytes, 0)
	a.Extra = s.object(e)
	return a
}

func (s *scanner) call(e *event) (a trace.CallArgs) {
	a.Index = s.index(e)
	a.ID, _ = s.int(e, keyPythonID, -1)
	a.Parent, _ = s.int(e, keyPythonParent, -1)
	a.Module, _ = s.int(e, keyPythonModule, -1)
	a.Shapes = s.plainText(e, keyShapes)
	a.Extra = s.object(e)
	return a
}

func (s *scanner) kernel(e *event) (a trace.KernelArgs) {
	a.Grid, a.Block = s.triple(e, keyGrid), s.triple(e, keyBlock)
	a.Registers = s.int32(e, keyRegisters, -1)
	a.SharedMem = s.int32(e, keySharedMem, -1)
	a.BlocksPerSM = float32(s.float(e, keyBlocksPerSM, -1))
	a.WarpsPerSM = float32(s.float(e, keyWarpsPerSM, -1))
	a.Occupancy = float32(s.float(e, keyOccupancy, -1))
	a.Queued, _ = s.int(e, keyQueued, -1)
	a.Device, a.Context, a.Stream = s.place(e)
	a.GraphID, _ = s.int(e, keyGraphID, -1)
	a.GraphNode, _ = s.int(e, keyGraphNode, -1)
	a.Extra = s.object(e)
	return a
}

func (s *scanner) copy(e *event) (a trace.CopyArgs) {
	a.Bytes, _ = s.int(e, keyBytes, 0)
	a.Bandwidth = s.float(e, keyBandwidth, 0)
	a.Device, a.Context, a.Stream = s.place(e)
	a.GraphID, _ = s.int(e, keyGraphID, -1)
	a.GraphNode, _ = s.int(e, keyGraphNode, -1)
	a.Extra = s.object(e)
	return a
}

func (s *scanner) sync(e *event) (a trace.SyncArgs) {
	a.Kind = s.plainText(e, keySyncKind)
	a.Device, a.Context, a.Stream = s.place(e)
	a.WaitStream, _ = s.int(e, keyWaitStream, -1)
	a.WaitEvent, _ = s.int(e, keyWaitEvent, -1)
	a.WaitRecordCorr, _ = s.int(e, keyWaitRecord, -1)
	a.Extra = s.object(e)
	return a
}

// place takes where device work ran. The device is the source's id still; finish makes it an index.
func (s *scanner) place(e *event) (device trace.DeviceID, context, stream int64) {
	device = trace.DeviceID(s.int32(e, keyDevice, int32(trace.NoDevice)))
	if device < 0 {
		device = trace.NoDevice
	}
	context, _ = s.int(e, keyContext, -1)
	stream, _ = s.int(e, keyStream, -1)
	return device, context, stream
}

// object interns the arguments that have no place as one JSON object, 0 when there are none.
func (s *scanner) object(e *event) trace.StringID {
	if e.set == 0 && len(e.others) == 0 {
		return 0
	}
	s.buf = append(s.buf[:0], '{')
	for _, a := range e.others {
		s.buf = append(append(append(s.buf, '"'), a.key.of(e.b)...), '"', ':')
		s.buf = append(append(s.buf, a.value.of(e.b)...), ',')
	}
	for k := argKey(1); k < numKeys; k++ {
		if e.has(k) {
			s.buf = append(append(append(s.buf, '"'), keyNames[k]...), '"', ':')
			s.buf = append(append(s.buf, e.known[k].of(e.b)...), ',')
		}
	}
	s.buf[len(s.buf)-1] = '}'
	return s.json(s.buf)
}
