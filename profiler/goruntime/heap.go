package goruntime

import (
	"math"
	"runtime"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// HeapRate is the mean number of bytes between two sampled allocations while Heap runs, unless the program asks for less:
// at 64 KiB the figures of sites that allocate megabytes are within a few percent, at 2 to 20 ns an allocation.
const HeapRate = 64 << 10

// Heap is the source of allocations by stack. It collects garbage at Start and Stop, because the runtime publishes the
// profile of a cycle with the next one.
type Heap struct {
	rate, oldRate int
	before        map[stackKey]runtime.MemProfileRecord
	after         []runtime.MemProfileRecord
}

// stackKey identifies an allocation site.
type stackKey [32]uintptr

// Start sets the sampling rate and notes what was allocated so far.
func (h *Heap) Start() error {
	h.oldRate = runtime.MemProfileRate
	h.rate = h.oldRate
	if h.rate <= 0 || h.rate > HeapRate {
		h.rate = HeapRate
	}
	runtime.MemProfileRate = h.rate
	publishHeap()
	h.before = make(map[stackKey]runtime.MemProfileRecord)
	for _, r := range heapRecords() {
		h.before[r.Stack0] = r
	}
	return nil
}

// Stop notes what was allocated meanwhile and puts the old rate back.
func (h *Heap) Stop() error {
	publishHeap()
	h.after = heapRecords()
	runtime.MemProfileRate = h.oldRate
	return nil
}

// publishHeap makes the profile complete: allocations of the current cycle appear after the next two.
func publishHeap() {
	runtime.GC()
	runtime.GC()
}

func heapRecords() []runtime.MemProfileRecord {
	n, _ := runtime.MemProfile(nil, true)
	for {
		list := make([]runtime.MemProfileRecord, n+64)
		var ok bool
		if n, ok = runtime.MemProfile(list, true); ok {
			return list[:n]
		}
	}
}

// AddTo adds what each site allocated, and what of it is still in use, as samples. The records are scaled here, with the
// rate that held: a site whose objects have s bytes on average sees one of them with probability 1-exp(-s/rate).
func (h *Heap) AddTo(t *trace.Trace, _ record.Window) error {
	x := t.StackIndex()
	for i := range h.after {
		r := &h.after[i]
		b := h.before[r.Stack0]
		objects, bytes := r.AllocObjects-b.AllocObjects, r.AllocBytes-b.AllocBytes
		inUse, inUseObjects := r.InUseBytes()-b.InUseBytes(), r.InUseObjects()-b.InUseObjects()
		if objects <= 0 || bytes <= 0 {
			continue
		}
		scale := 1 / (1 - math.Exp(-float64(bytes)/float64(objects)/float64(h.rate)))
		stack := pushStack(x, r.Stack())
		t.Samples = append(t.Samples, aggregated(trace.SampleAlloc, stack, bytes, objects, scale))
		if inUse > 0 && inUseObjects > 0 {
			t.Samples = append(t.Samples, aggregated(trace.SampleInUse, stack, inUse, inUseObjects, scale))
		}
	}
	return nil
}

func aggregated(kind trace.SampleKind, stack trace.StackID, weight, count int64, scale float64) trace.Sample {
	return trace.Sample{
		Time: trace.NoTime, Track: trace.NoTrack, Stack: stack, Kind: kind,
		Weight: int64(math.Round(float64(weight) * scale)), Count: int64(math.Round(float64(count) * scale)),
	}
}

// pushStack interns a stack of return addresses, innermost first, leaving out the runtime's allocator at its end and
// runtime.goexit at its root.
func pushStack(x *trace.StackIndex, pcs []uintptr) trace.StackID {
	var path []trace.FrameID
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && f.Function != "runtime.goexit" && !(len(path) == 0 && allocator(f.Function)) {
			path = append(path, x.Frame(f.Function, f.File, int32(f.Line)))
		}
		if !more {
			break
		}
	}
	var id trace.StackID
	for i := len(path) - 1; i >= 0; i-- {
		id = x.Push(id, path[i])
	}
	return id
}

// allocator reports whether a function is a part of the runtime's allocator, which says nothing about who allocates.
func allocator(name string) bool {
	return len(name) > 8 && name[:8] == "runtime."
}
