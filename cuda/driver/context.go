//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Context is a device's primary context: the one that the CUDA runtime, cuBLAS and PyTorch use too. Its methods and what
// is made with it may be used from any goroutine at any time.
type Context struct {
	device Device
	handle C.CUcontext
	cudev  C.CUdevice
	closed atomic.Bool
	once   sync.Once
}

var errClosed = errors.New("the CUDA context is closed")

// Open returns the primary context of a device, which it makes when nobody has yet. Close gives it back.
func Open(device int) (*Context, error) {
	d, err := Device(device).handle()
	if err != nil {
		return nil, err
	}
	c := &Context{device: Device(device), cudev: d}
	if err := failed(C.cuDevicePrimaryCtxRetain(&c.handle, d), "making a context on device %d", device); err != nil {
		return nil, err
	}
	return c, nil
}

// Close gives the context up; memory, streams and modules made with it are gone when its last user has closed it. It is
// idempotent.
func (c *Context) Close() error {
	var err error
	c.once.Do(func() {
		c.closed.Store(true)
		err = failed(C.cuDevicePrimaryCtxRelease(c.cudev), "closing the context of device %d", int(c.device))
	})
	return err
}

func (c *Context) check() error {
	switch {
	case c == nil:
		if err := Available(); err != nil {
			return err
		}
		return errors.New("there is no CUDA context: Open makes one")
	case c.closed.Load():
		return errClosed
	}
	return nil
}

// Device is the device of the context.
func (c *Context) Device() Device { return c.device }

// Synchronize waits for everything that was started on the device. It returns the failure of a kernel, if one failed.
func (c *Context) Synchronize() error {
	if err := c.check(); err != nil {
		return err
	}
	return failed(C.in_synchronize(c.handle), "waiting for device %d", int(c.device))
}

// MemInfo returns the device's free and total memory in bytes.
func (c *Context) MemInfo() (free, total int64, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	var f, t C.size_t
	err = failed(C.in_mem_info(c.handle, &f, &t), "reading the memory of device %d", int(c.device))
	return int64(f), int64(t), err
}

// Do calls f on an OS thread that has the context current, for libraries that depend on that: gorgonia.org/cu, or C code
// of one's own. What was current on the thread before is so again afterwards.
func (c *Context) Do(f func() error) error {
	if err := c.check(); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := failed(C.cuCtxPushCurrent(c.handle), "making the context of device %d current", int(c.device)); err != nil {
		return err
	}
	defer func() {
		var old C.CUcontext
		C.cuCtxPopCurrent(&old)
	}()
	return f()
}
