package profiler

import (
	"unsafe"

	"github.com/gander-go/gander/profiler/record"
)

// Span is a span that has begun. Its End may be called on any goroutine and more than once: the first call counts.
type Span = record.Span

// Op describes an operator to BeginOp: shapes and element types of its arguments, FLOPs and bytes.
type Op = record.Op

// Begin starts a span called name on the calling goroutine. While no profile records it does nothing.
//
//	defer profiler.Begin("load batch").End()
func Begin(name string) Span { return record.Begin(name) }

// BeginOp starts the span of an operator. Ask Recording first where computing op costs something.
func BeginOp(name string, op *Op) Span { return record.BeginOp(name, op) }

// Recording reports whether a profile records at the moment.
func Recording() bool { return record.Active() }

// Record runs f in a span called name. The span ends also when f panics or ends its goroutine.
func Record(name string, f func()) {
	defer Begin(name).End()
	f()
}

// RecordErr is Record for a function that can fail.
func RecordErr(name string, f func() error) error {
	defer Begin(name).End()
	return f()
}

// Value is Record for a function with a result.
func Value[T any](name string, f func() T) T {
	defer Begin(name).End()
	return f()
}

// Counter reports that something called name has value from now on. Unit is "bytes", "count", "percent", "ns" or any
// other word.
func Counter(name, unit string, value float64) { record.Counter(name, unit, value) }

// Mark reports that something called name happened now on the calling goroutine.
func Mark(name string) { record.Mark(name) }

// Alloc reports that an allocator of the program handed out bytes at addr, for what name says. It is for pools and
// arenas, whose memory Go's own figures cannot tell apart. Events are kept when ProfileMemory is on; the total in use is
// kept always.
func Alloc(name string, addr unsafe.Pointer, bytes int64) { record.Alloc(name, addr, bytes) }

// Free reports that the bytes at addr went back to the allocator that Alloc spoke of.
func Free(addr unsafe.Pointer, bytes int64) { record.Free(addr, bytes) }

// OutOfMemory reports that an allocator could not hand out bytes.
func OutOfMemory(name string, bytes int64) { record.OutOfMemory(name, bytes) }

// AllocSlice is Alloc for the memory of a slice, all its capacity. It returns s.
func AllocSlice[T any](name string, s []T) []T {
	var zero T
	Alloc(name, unsafe.Pointer(unsafe.SliceData(s)), int64(cap(s))*int64(unsafe.Sizeof(zero)))
	return s
}

// FreeSlice is Free for a slice that AllocSlice saw, with the same capacity.
func FreeSlice[T any](s []T) {
	var zero T
	Free(unsafe.Pointer(unsafe.SliceData(s)), int64(cap(s))*int64(unsafe.Sizeof(zero)))
}
