//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// Pinned is memory of the host that the device can copy from and to on its own, at full speed and while the host does
// something else. Kernels can reach it too, slowly.
type Pinned[T any] struct{ span[T] }

// AllocPinned allocates n elements of pinned memory. They are zero.
func AllocPinned[T any](c *Context, n int) (*Pinned[T], error) {
	bytes, err := room[T](c, n)
	if err != nil {
		return nil, err
	}
	a := &allocation{ctx: c, gone: new(atomic.Bool), free: func(c C.CUcontext, _ C.CUdeviceptr, h unsafe.Pointer) C.CUresult { return C.in_free_host(c, h) }}
	if err := failed(C.in_alloc_host(c.handle, &a.host, bytes), "allocating %d bytes of pinned memory", int(bytes)); err != nil {
		return nil, err
	}
	if err := failed(C.in_host_pointer(c.handle, &a.ptr, a.host), "mapping %d bytes of pinned memory", int(bytes)); err != nil {
		C.in_free_host(c.handle, a.host)
		return nil, err
	}
	p := &Pinned[T]{span[T]{a.watch(), 0, n}}
	clear(p.host())
	return p, nil
}

// Slice is the memory itself, not a copy. It must not be used after Free, and once it was handed out only Free frees the memory.
func (p *Pinned[T]) Slice() []T { return p.shared() }

// Part is the elements from (inclusive) to (exclusive) of the same memory. It panics when they are out of range.
func (p *Pinned[T]) Part(from, to int) *Pinned[T] { return &Pinned[T]{p.part(from, to)} }

// Managed is memory that host and device share: the driver moves pages to where they are used. While a kernel uses it, the
// host may touch it only on devices whose Info says ConcurrentManaged; Synchronize before.
type Managed[T any] struct{ span[T] }

// AllocManaged allocates n elements of managed memory. They are zero.
func AllocManaged[T any](c *Context, n int) (*Managed[T], error) {
	bytes, err := room[T](c, n)
	if err != nil {
		return nil, err
	}
	a := &allocation{ctx: c, gone: new(atomic.Bool), free: func(c C.CUcontext, p C.CUdeviceptr, _ unsafe.Pointer) C.CUresult { return C.in_free(c, p) }}
	if err := failed(C.in_alloc_managed(c.handle, &a.ptr, bytes), "allocating %d bytes of managed memory", int(bytes)); err != nil {
		return nil, err
	}
	a.host = *(*unsafe.Pointer)(unsafe.Pointer(&a.ptr)) // one address for both sides
	m := &Managed[T]{span[T]{a.watch(), 0, n}}
	clear(m.host())
	return m, nil
}

// Slice is the memory itself, not a copy. It must not be used after Free, and once it was handed out only Free frees the memory.
func (m *Managed[T]) Slice() []T { return m.shared() }

// Part is the elements from (inclusive) to (exclusive) of the same memory. It panics when they are out of range.
func (m *Managed[T]) Part(from, to int) *Managed[T] { return &Managed[T]{m.part(from, to)} }

// hostDevice is CU_DEVICE_CPU.
const hostDevice = -1

// Prefetch moves the memory to the context's device on a stream, ahead of use; it does not wait.
func (m *Managed[T]) Prefetch(s *Stream) error { return m.prefetch(s, false) }

// PrefetchHost moves the memory to the host on a stream; it does not wait.
func (m *Managed[T]) PrefetchHost(s *Stream) error { return m.prefetch(s, true) }

func (m *Managed[T]) prefetch(s *Stream, host bool) error {
	if err := m.check(); err != nil {
		return err
	}
	h, err := s.use(m.mem.ctx)
	if err != nil {
		return err
	}
	to := m.mem.ctx.cudev
	if host {
		to = hostDevice
	}
	return failed(C.in_prefetch(m.mem.ctx.handle, C.CUdeviceptr(m.Ptr()), C.size_t(m.Bytes()), to, h), "prefetching %d bytes", m.Bytes())
}
