//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Ptr is an address in a device's address space.
type Ptr uint64

// Ref is memory that kernels can reach, with elements of type T: a Buffer, Pinned or Managed memory.
type Ref[T any] interface {
	Ptr() Ptr
	Len() int
	elem() *T
	reach
}

// reach is what a launch needs of an argument in device memory.
type reach interface {
	context() *Context
	usable() error
	address() Ptr
}

// allocation is one piece of memory of the driver's.
type allocation struct {
	ctx  *Context
	ptr  C.CUdeviceptr
	host unsafe.Pointer // of memory that the host can reach
	gone *atomic.Bool
	free func(C.CUcontext, C.CUdeviceptr, unsafe.Pointer) C.CUresult

	cleanup runtime.Cleanup
}

// release frees the memory once. Freeing waits for the work that uses it.
func (a *allocation) release() error {
	if a == nil || !a.gone.CompareAndSwap(false, true) || a.ctx.closed.Load() {
		return nil
	}
	return failed(a.free(a.ctx.handle, a.ptr, a.host), "freeing memory")
}

// watch frees the memory when nothing refers to it any more.
func (a *allocation) watch() *allocation {
	type raw struct {
		ctx  *Context
		ptr  C.CUdeviceptr
		host unsafe.Pointer
		gone *atomic.Bool
		free func(C.CUcontext, C.CUdeviceptr, unsafe.Pointer) C.CUresult
	}
	a.cleanup = runtime.AddCleanup(a, func(r raw) {
		if r.gone.CompareAndSwap(false, true) && !r.ctx.closed.Load() {
			r.free(r.ctx.handle, r.ptr, r.host)
		}
	}, raw{a.ctx, a.ptr, a.host, a.gone, a.free})
	return a
}

// keep leaves freeing to Free: a slice of the memory is in other hands, and the garbage collector does not know that it refers to a.
func (a *allocation) keep() { a.cleanup.Stop() }

var errFreed = errors.New("the memory was freed")

// span is a part of an allocation as elements of T.
type span[T any] struct {
	mem *allocation
	off int // elements
	n   int
}

func (s *span[T]) check() error {
	switch {
	case s == nil || s.mem == nil:
		return errors.New("there is no memory: it was not allocated")
	case s.mem.gone.Load():
		return errFreed
	}
	return s.mem.ctx.check()
}

func (s *span[T]) context() *Context { return s.mem.ctx }
func (s *span[T]) usable() error     { return s.check() }
func (s *span[T]) elem() *T          { return nil }
func (s *span[T]) address() Ptr      { return s.Ptr() }

// Ptr is the address of the first element on the device; 0 when the memory was freed.
func (s *span[T]) Ptr() Ptr {
	if s == nil || s.mem == nil || s.mem.gone.Load() {
		return 0
	}
	return Ptr(s.mem.ptr) + Ptr(s.off*size[T]())
}

// Len is the number of elements.
func (s *span[T]) Len() int {
	if s == nil {
		return 0
	}
	return s.n
}

// Bytes is the size in bytes.
func (s *span[T]) Bytes() int { return s.Len() * size[T]() }

// Context is the context that the memory belongs to.
func (s *span[T]) Context() *Context { return s.mem.ctx }

// Free gives the memory back, also for all parts of it. It waits for the work that uses it, and is idempotent. Memory that
// nothing refers to any more is freed by the garbage collector, unless a Slice of it was handed out that is no copy.
func (s *span[T]) Free() error {
	if s == nil {
		return nil
	}
	return s.mem.release()
}

func (s *span[T]) part(from, to int) span[T] {
	if from < 0 || to < from || to > s.n {
		panic(fmt.Sprintf("driver: part [%d:%d] of memory with %d elements", from, to, s.n))
	}
	return span[T]{s.mem, s.off + from, to - from}
}

func (s *span[T]) host() []T {
	if s == nil || s.mem == nil || s.mem.gone.Load() || s.n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Add(s.mem.host, s.off*size[T]())), s.n)
}

// shared is host for the user's own use.
func (s *span[T]) shared() []T {
	h := s.host()
	if h != nil {
		s.mem.keep()
	}
	runtime.KeepAlive(s)
	return h
}

func size[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// plain reports why T cannot be copied to a device: it has no size, or it refers to Go's memory.
func plain[T any]() error {
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		return fmt.Errorf("elements of type %v have no size", t)
	}
	if why := pointers(t); why != "" {
		return fmt.Errorf("elements of type %v cannot be on a device: %s", t, why)
	}
	return nil
}

// pointers says what in t refers to memory, "" for nothing.
func pointers(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return pointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if why := pointers(t.Field(i).Type); why != "" {
				return "field " + t.Field(i).Name + ": " + why
			}
		}
		return ""
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return ""
	}
	return "a " + t.Kind().String() + " refers to Go's memory"
}

// room checks a size and returns it in bytes.
func room[T any](c *Context, n int) (C.size_t, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	if err := plain[T](); err != nil {
		return 0, err
	}
	if n <= 0 || n > int(^uint(0)>>1)/size[T]() {
		return 0, fmt.Errorf("allocating %d elements of %d bytes: that is no size", n, size[T]())
	}
	return C.size_t(n * size[T]()), nil
}

// Buffer is memory on a device with elements of type T.
type Buffer[T any] struct{ span[T] }

// Alloc allocates n elements on the device. Their contents are whatever was there.
func Alloc[T any](c *Context, n int) (*Buffer[T], error) {
	bytes, err := room[T](c, n)
	if err != nil {
		return nil, err
	}
	a := &allocation{ctx: c, gone: new(atomic.Bool), free: func(c C.CUcontext, p C.CUdeviceptr, _ unsafe.Pointer) C.CUresult { return C.in_free(c, p) }}
	if err := failed(C.in_alloc(c.handle, &a.ptr, bytes), "allocating %d bytes on device %d", int(bytes), int(c.device)); err != nil {
		return nil, err
	}
	return &Buffer[T]{span[T]{a.watch(), 0, n}}, nil
}

// Upload allocates memory on the device and copies data there.
func Upload[T any](c *Context, data []T) (*Buffer[T], error) {
	b, err := Alloc[T](c, len(data))
	if err != nil {
		return nil, err
	}
	if err := b.CopyFrom(data); err != nil {
		b.Free() //nolint:errcheck // the first error counts
		return nil, err
	}
	return b, nil
}

// Part is the elements from (inclusive) to (exclusive) of the same memory. It panics when they are out of range.
func (b *Buffer[T]) Part(from, to int) *Buffer[T] { return &Buffer[T]{b.part(from, to)} }

func fits(op string, have, want int) error {
	if have != want {
		return fmt.Errorf("%s: %d elements do not fit %d", op, have, want)
	}
	return nil
}

// CopyFrom copies src to the device and waits for it. The lengths must be equal.
func (b *Buffer[T]) CopyFrom(src []T) error {
	if err := errors.Join(b.check(), fits("copying to the device", len(src), b.Len())); err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return failed(C.in_htod(b.mem.ctx.handle, C.CUdeviceptr(b.Ptr()), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(b.Bytes())), "copying %d bytes to the device", b.Bytes())
}

// CopyTo copies the elements to dst and waits for it. The lengths must be equal.
func (b *Buffer[T]) CopyTo(dst []T) error {
	if err := errors.Join(b.check(), fits("copying from the device", b.Len(), len(dst))); err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return failed(C.in_dtoh(b.mem.ctx.handle, unsafe.Pointer(unsafe.SliceData(dst)), C.CUdeviceptr(b.Ptr()), C.size_t(b.Bytes())), "copying %d bytes from the device", b.Bytes())
}

// Slice returns a copy of the elements.
func (b *Buffer[T]) Slice() ([]T, error) {
	dst := make([]T, b.Len())
	return dst, b.CopyTo(dst)
}

// CopyFromBuffer copies src, on the same device, on a stream; it does not wait.
func (b *Buffer[T]) CopyFromBuffer(src *Buffer[T], s *Stream) error {
	if err := errors.Join(b.check(), src.check(), fits("copying on the device", src.Len(), b.Len())); err != nil {
		return err
	}
	h, err := s.use(b.mem.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	defer runtime.KeepAlive(src)
	return failed(C.in_dtod_async(b.mem.ctx.handle, C.CUdeviceptr(b.Ptr()), C.CUdeviceptr(src.Ptr()), C.size_t(b.Bytes()), h), "copying %d bytes on the device", b.Bytes())
}

// CopyFromPinned copies src to the device on a stream; it does not wait, and src must stay as it is until the copy is done.
func (b *Buffer[T]) CopyFromPinned(src *Pinned[T], s *Stream) error {
	if err := errors.Join(b.check(), src.check(), fits("copying to the device", src.Len(), b.Len())); err != nil {
		return err
	}
	h, err := s.use(b.mem.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	defer runtime.KeepAlive(src)
	return failed(C.in_htod_async(b.mem.ctx.handle, C.CUdeviceptr(b.Ptr()), unsafe.Pointer(unsafe.SliceData(src.host())), C.size_t(b.Bytes()), h), "copying %d bytes to the device", b.Bytes())
}

// CopyToPinned copies the elements to dst on a stream; it does not wait.
func (b *Buffer[T]) CopyToPinned(dst *Pinned[T], s *Stream) error {
	if err := errors.Join(b.check(), dst.check(), fits("copying from the device", b.Len(), dst.Len())); err != nil {
		return err
	}
	h, err := s.use(b.mem.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	defer runtime.KeepAlive(dst)
	return failed(C.in_dtoh_async(b.mem.ctx.handle, unsafe.Pointer(unsafe.SliceData(dst.host())), C.CUdeviceptr(b.Ptr()), C.size_t(b.Bytes()), h), "copying %d bytes from the device", b.Bytes())
}

// Fill sets every byte on a stream; it does not wait. Fill(0, nil) makes zeros.
func (b *Buffer[T]) Fill(v byte, s *Stream) error {
	if err := b.check(); err != nil {
		return err
	}
	h, err := s.use(b.mem.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return failed(C.in_set8(b.mem.ctx.handle, C.CUdeviceptr(b.Ptr()), C.uchar(v), C.size_t(b.Bytes()), h), "filling %d bytes on the device", b.Bytes())
}
