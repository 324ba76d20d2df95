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

// Graph is work that was captured on a stream and is launched as a whole, which costs the host one call.
type Graph struct {
	ctx    *Context
	handle C.CUgraphExec
	res    resource
}

// Capture calls f and makes a graph of the work that f puts on the stream, none of which runs. Calls in f that wait, or that
// use the default stream, are errors. Memory and modules that the work uses must stay until the last launch is done: the
// graph knows their addresses and does not keep them.
func (s *Stream) Capture(f func() error) (*Graph, error) {
	h, err := s.use(s.context())
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("capturing a graph: the default stream cannot be captured")
	}
	defer runtime.KeepAlive(s)
	c := s.ctx
	if err := failed(C.in_capture_begin(c.handle, h), "capturing a graph"); err != nil {
		return nil, err
	}
	var graph C.CUgraph
	err = func() (err error) {
		ended := false
		defer func() { // the stream must not stay in capture when f panics
			if !ended {
				C.in_capture_end(c.handle, h, &graph)
			}
		}()
		err = f()
		ended = true
		return errors.Join(err, failed(C.in_capture_end(c.handle, h, &graph), "capturing a graph"))
	}()
	if graph != nil {
		defer C.in_graph_destroy(c.handle, graph)
	}
	if err != nil {
		return nil, err
	}
	g := &Graph{ctx: c}
	if err := failed(C.in_graph_instantiate(c.handle, &g.handle, graph), "making a graph ready to launch"); err != nil {
		return nil, err
	}
	g.res = resource{c, unsafe.Pointer(g.handle), new(atomic.Bool)}
	hold(g, g.res, func(c C.CUcontext, p unsafe.Pointer) C.CUresult { return C.in_graph_exec_destroy(c, C.CUgraphExec(p)) })
	return g, nil
}

// Launch puts the graph's work on a stream; it does not wait.
func (g *Graph) Launch(s *Stream) error {
	if g.res.gone.Load() {
		return &Error{Op: "launching a closed graph", Code: 400}
	}
	h, err := s.use(g.ctx)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(g)
	defer runtime.KeepAlive(s)
	return failed(C.in_graph_launch(g.ctx.handle, g.handle, h), "launching a graph")
}

// Close gives the graph back when its work is done; it does not wait. It is idempotent.
func (g *Graph) Close() error {
	if g == nil || !g.res.gone.CompareAndSwap(false, true) || g.ctx.closed.Load() {
		return nil
	}
	return failed(C.in_graph_exec_destroy(g.ctx.handle, g.handle), "closing a graph")
}
