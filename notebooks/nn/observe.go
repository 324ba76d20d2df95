package nn

import (
	"runtime"
	"unsafe"

	"github.com/gander-go/gander/profiler"
)

// begin starts the span of a layer. Shapes are worked out only while a profile records.
func begin(name string, args ...*Tensor) profiler.Span {
	if !profiler.Recording() {
		return profiler.Span{}
	}
	if len(args) == 0 {
		return profiler.Begin(name)
	}
	op := &profiler.Op{}
	for _, a := range args {
		op.Shapes = append(op.Shapes, a.Shape)
		op.Types = append(op.Types, "float32")
	}
	return profiler.BeginOp(name, op)
}

// memory is what a cleanup needs to know of a tensor that was dropped without Release.
type memory struct {
	addr  unsafe.Pointer
	bytes int64
}

// track tells the profiler of t's memory, and of its end should nobody call Release.
func track(t *Tensor) {
	if len(t.Data) == 0 {
		t.released = true
		return
	}
	t.mem = memory{unsafe.Pointer(&t.Data[0]), t.Bytes()}
	profiler.Alloc("nn.Tensor", t.mem.addr, t.mem.bytes)
	t.cleanup = runtime.AddCleanup(t, memory.free, t.mem)
}

func untrack(t *Tensor) {
	t.cleanup.Stop()
	t.mem.free()
}

func (m memory) free() { profiler.Free(m.addr, m.bytes) }
