//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// resource is a handle of the driver's that is given back once, by its owner or by the garbage collector.
type resource struct {
	ctx    *Context
	handle unsafe.Pointer
	gone   *atomic.Bool
}

// hold gives r back when owner is garbage. The context must outlive it, or be closed.
func hold[T any](owner *T, r resource, release func(C.CUcontext, unsafe.Pointer) C.CUresult) {
	runtime.AddCleanup(owner, func(r resource) {
		if r.gone.CompareAndSwap(false, true) && !r.ctx.closed.Load() {
			release(r.ctx.handle, r.handle)
		}
	}, r)
}

// Stream is a queue of work on a device: what is put on one stream runs in order, what is put on different ones may
// overlap. The nil Stream is the device's default stream.
type Stream struct {
	ctx    *Context
	handle C.CUstream
	res    resource
}

// StreamOptions say how a stream is made.
type StreamOptions struct {
	// NonBlocking streams do not wait for the default stream, nor it for them.
	NonBlocking bool
	// Priority of kernels, lower being more urgent; 0 is the least.
	Priority int
}

// NewStream makes a stream that keeps order with the default stream.
func (c *Context) NewStream() (*Stream, error) { return c.NewStreamWith(StreamOptions{}) }

// NewStreamWith makes a stream.
func (c *Context) NewStreamWith(o StreamOptions) (*Stream, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	flags := C.unsigned(C.CU_STREAM_DEFAULT)
	if o.NonBlocking {
		flags = C.CU_STREAM_NON_BLOCKING
	}
	s := &Stream{ctx: c}
	if err := failed(C.in_stream_create(c.handle, &s.handle, flags, C.int(o.Priority)), "making a stream"); err != nil {
		return nil, err
	}
	s.res = resource{c, unsafe.Pointer(s.handle), new(atomic.Bool)}
	hold(s, s.res, func(c C.CUcontext, p unsafe.Pointer) C.CUresult { return C.in_stream_destroy(c, C.CUstream(p)) })
	return s, nil
}

// use returns the handle for a call in context c.
func (s *Stream) use(c *Context) (C.CUstream, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	switch {
	case s == nil:
		return nil, nil
	case s.res.gone.Load():
		return nil, &Error{Op: "using a closed stream", Code: 400}
	case s.ctx.device != c.device:
		return nil, &Error{Op: "using a stream of another device", Code: InvalidContext}
	}
	return s.handle, nil
}

// Context is the context of the stream.
func (s *Stream) Context() *Context { return s.ctx }

// Synchronize waits for the work on the stream. It returns the failure of a kernel, if one failed.
func (s *Stream) Synchronize() error {
	h, err := s.use(s.context())
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(s)
	return failed(C.in_stream_synchronize(s.ctx.handle, h), "waiting for a stream")
}

func (s *Stream) context() *Context {
	if s == nil {
		return nil
	}
	return s.ctx
}

// Done reports whether the work on the stream is done, without waiting.
func (s *Stream) Done() (bool, error) {
	h, err := s.use(s.context())
	if err != nil {
		return false, err
	}
	defer runtime.KeepAlive(s)
	r := C.in_stream_query(s.ctx.handle, h)
	if Code(r) == NotReady {
		return false, nil
	}
	return r == 0, failed(r, "asking a stream for its state")
}

// Wait makes work that is put on the stream later wait for e.
func (s *Stream) Wait(e *Event) error {
	h, err := s.use(s.context())
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(e)
	return failed(C.in_stream_wait(s.ctx.handle, h, e.handle), "making a stream wait for an event")
}

// Close gives the stream back when its work is done; it does not wait. It is idempotent.
func (s *Stream) Close() error {
	if s == nil || !s.res.gone.CompareAndSwap(false, true) || s.ctx.closed.Load() {
		return nil
	}
	return failed(C.in_stream_destroy(s.ctx.handle, s.handle), "closing a stream")
}

// Event is a mark on a stream, with the time at which the work before it was done.
type Event struct {
	ctx    *Context
	handle C.CUevent
	res    resource
}

// NewEvent makes an event. Record puts it on a stream.
func (c *Context) NewEvent() (*Event, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	e := &Event{ctx: c}
	if err := failed(C.in_event_create(c.handle, &e.handle, C.CU_EVENT_DEFAULT), "making an event"); err != nil {
		return nil, err
	}
	e.res = resource{c, unsafe.Pointer(e.handle), new(atomic.Bool)}
	hold(e, e.res, func(c C.CUcontext, p unsafe.Pointer) C.CUresult { return C.in_event_destroy(c, C.CUevent(p)) })
	return e, nil
}

func (e *Event) check() error {
	if e.res.gone.Load() {
		return &Error{Op: "using a closed event", Code: 400}
	}
	return e.ctx.check()
}

// Record puts the event on a stream, behind the work that is there.
func (e *Event) Record(s *Stream) error {
	if err := e.check(); err != nil {
		return err
	}
	h, err := s.use(e.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(s)
	return failed(C.in_event_record(e.ctx.handle, e.handle, h), "recording an event")
}

// Synchronize waits for the event.
func (e *Event) Synchronize() error {
	if err := e.check(); err != nil {
		return err
	}
	defer runtime.KeepAlive(e)
	return failed(C.in_event_synchronize(e.ctx.handle, e.handle), "waiting for an event")
}

// Done reports whether the event has happened, without waiting.
func (e *Event) Done() (bool, error) {
	if err := e.check(); err != nil {
		return false, err
	}
	defer runtime.KeepAlive(e)
	r := C.in_event_query(e.ctx.handle, e.handle)
	if Code(r) == NotReady {
		return false, nil
	}
	return r == 0, failed(r, "asking an event for its state")
}

// Since returns the device's time between an earlier event and this one, both of which must have happened. The driver
// measures in steps of about half a microsecond.
func (e *Event) Since(from *Event) (time.Duration, error) {
	if err := e.check(); err != nil {
		return 0, err
	}
	if err := from.check(); err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(from)
	var ms C.float
	err := failed(C.in_event_elapsed(e.ctx.handle, &ms, from.handle, e.handle), "measuring between events")
	return time.Duration(float64(ms) * 1e6), err
}

// Close gives the event back. It is idempotent.
func (e *Event) Close() error {
	if e == nil || !e.res.gone.CompareAndSwap(false, true) || e.ctx.closed.Load() {
		return nil
	}
	return failed(C.in_event_destroy(e.ctx.handle, e.handle), "closing an event")
}
