//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// AllocOn allocates n elements from the device's memory pool, in the order of a stream: work that is put on the stream later
// may use them, and nothing waits. Taking memory from a pool and giving it back costs microseconds; Alloc and Free cost more,
// and Free waits.
func AllocOn[T any](s *Stream, n int) (*Buffer[T], error) {
	if s == nil {
		return nil, errors.New("allocating on a stream: there is no stream")
	}
	c := s.ctx
	bytes, err := room[T](c, n)
	if err != nil {
		return nil, err
	}
	h, err := s.use(c)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(s)
	// Freeing without a stream waits, and is right for memory of a pool too.
	a := &allocation{ctx: c, gone: new(atomic.Bool), free: func(c C.CUcontext, p C.CUdeviceptr, _ unsafe.Pointer) C.CUresult { return C.in_free(c, p) }}
	if err := failed(C.in_alloc_async(c.handle, &a.ptr, bytes, h), "allocating %d bytes on a stream of device %d", int(bytes), int(c.device)); err != nil {
		return nil, err
	}
	return &Buffer[T]{span[T]{a.watch(), 0, n}}, nil
}

// FreeOn gives memory of AllocOn back to its pool when the work that the stream has is done; it does not wait. It is idempotent.
func (b *Buffer[T]) FreeOn(s *Stream) error {
	if b == nil || b.mem == nil {
		return nil
	}
	c := b.mem.ctx
	h, err := s.use(c)
	if err != nil {
		return err
	}
	if !b.mem.gone.CompareAndSwap(false, true) || c.closed.Load() {
		return nil
	}
	defer runtime.KeepAlive(s)
	err = failed(C.in_free_async(c.handle, b.mem.ptr, h), "freeing memory on a stream")
	if err != nil { // it is of no pool, and still to be freed
		b.mem.gone.Store(false)
	}
	return err
}
