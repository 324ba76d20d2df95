package record

import (
	"sync/atomic"
	"unsafe"
)

// memEvent is one allocation (bytes > 0), release (bytes < 0) or failed allocation that the program reported.
type memEvent struct {
	tick  int64
	goid  int64
	addr  uint64
	bytes int64
	name  uint32
	arg   uint32
	oom   bool
}

// counterValue is a value that the program reported.
type counterValue struct {
	tick  int64
	name  string
	unit  string
	value float64
}

// instant is a moment that the program marked.
type instant struct {
	tick int64
	goid int64
	name string
}

// live is what the program's allocators hold, recorded or not, so that totals are right in a recording that starts late.
var live atomic.Int64

// Alloc reports that an allocator of the program handed out bytes at addr on the heap, for what name says. It is for allocators and
// pools that hold memory themselves: what Go's own allocator does is seen without it.
func Alloc(name string, addr unsafe.Pointer, bytes int64) {
	live.Add(bytes)
	if r := active.Load(); r != nil && r.config.Memory {
		r.memoryEvent(name, addr, bytes, false)
	}
}

// Free reports that the bytes at addr went back to the allocator.
func Free(addr unsafe.Pointer, bytes int64) {
	live.Add(-bytes)
	if r := active.Load(); r != nil && r.config.Memory {
		r.memoryEvent("", addr, -bytes, false)
	}
}

// OutOfMemory reports that an allocator could not hand out bytes.
func OutOfMemory(name string, bytes int64) {
	if r := active.Load(); r != nil && r.config.Memory {
		r.memoryEvent(name, nil, bytes, true)
	}
}

func (r *Recorder) memoryEvent(name string, addr unsafe.Pointer, bytes int64, oom bool) {
	g := goroutine()
	e := memEvent{tick: ticks(), goid: g, addr: uint64(uintptr(addr)), bytes: bytes, oom: oom}
	e.name = r.names.id(name, 0, 0)
	if r.config.Stacks {
		e.arg = r.argOf(nil)
	}
	r.memory.add(g, e)
}

// Counter reports the value that something has from now on, in unit ("bytes", "count", "percent", …).
func Counter(name, unit string, value float64) {
	if r := active.Load(); r != nil {
		r.counters.add(goroutine(), counterValue{ticks(), name, unit, value})
	}
}

// Mark reports that something happened now on the calling goroutine.
func Mark(name string) {
	if r := active.Load(); r != nil {
		g := goroutine()
		r.instants.add(g, instant{ticks(), g, name})
	}
}
