//go:build linux && cgo && (amd64 || arm64)

package driver

/*
#include "calls.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Module is code that is loaded on a device.
type Module struct {
	ctx    *Context
	handle C.CUmodule
	res    resource
}

// Load loads PTX, a CUBIN or a fat binary. Where the driver's compiler refuses PTX, the error has its words.
func (c *Context) Load(image []byte) (*Module, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(image) == 0 {
		return nil, errors.New("loading a module: the image is empty")
	}
	if image[len(image)-1] != 0 { // PTX is a C string
		image = append(bytes.Clone(image), 0)
	}
	log := make([]byte, 8192)
	m := &Module{ctx: c}
	r := C.in_module_load(c.handle, &m.handle, unsafe.Pointer(&image[0]), (*C.char)(unsafe.Pointer(&log[0])), C.size_t(len(log)))
	if err := failed(r, "loading a module of %d bytes", len(image)); err != nil {
		var e *Error
		if errors.As(err, &e) {
			end := bytes.IndexByte(log, 0)
			e.Log = string(bytes.TrimSpace(log[:max(0, end)]))
		}
		return nil, err
	}
	m.res = resource{c, unsafe.Pointer(m.handle), new(atomic.Bool)}
	hold(m, m.res, func(c C.CUcontext, p unsafe.Pointer) C.CUresult { return C.in_module_unload(c, C.CUmodule(p)) })
	return m, nil
}

func (m *Module) check() error {
	if m.res.gone.Load() {
		return &Error{Op: "using a closed module", Code: 400}
	}
	return m.ctx.check()
}

// Close unloads the module. It is idempotent.
func (m *Module) Close() error {
	if m == nil || !m.res.gone.CompareAndSwap(false, true) || m.ctx.closed.Load() {
		return nil
	}
	return failed(C.in_module_unload(m.ctx.handle, m.handle), "unloading a module")
}

// Function finds a kernel by the name that it has in the image: the mangled one, unless it is extern "C".
func (m *Module) Function(name string) (*Function, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	f := &Function{module: m, name: name}
	if err := failed(C.in_function(m.ctx.handle, &f.handle, m.handle, cname), "finding kernel %q", name); err != nil {
		return nil, err
	}
	return f, nil
}

// Global finds a variable of the module and its size in bytes.
func (m *Module) Global(name string) (Ptr, int64, error) {
	if err := m.check(); err != nil {
		return 0, 0, err
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var p C.CUdeviceptr
	var n C.size_t
	err := failed(C.in_global(m.ctx.handle, &p, &n, m.handle, cname), "finding variable %q", name)
	return Ptr(p), int64(n), err
}

// Function is a kernel.
type Function struct {
	module *Module
	name   string
	handle C.CUfunction
}

// Name is the kernel's name in its image.
func (f *Function) Name() string { return f.name }

// Resources are what a kernel takes of a device. Sizes are in bytes.
type Resources struct {
	Registers       int // per thread
	Shared          int // static, per block
	Local           int // per thread
	Const           int
	ThreadsPerBlock int // the most that can be launched
	PTX, Binary     int // versions, 90 for 9.0
}

// Resources returns what the kernel takes.
func (f *Function) Resources() (Resources, error) {
	if err := f.module.check(); err != nil {
		return Resources{}, err
	}
	defer runtime.KeepAlive(f)
	var r Resources
	for _, a := range []struct {
		attribute C.uint
		to        *int
	}{
		{C.CU_FUNC_ATTRIBUTE_NUM_REGS, &r.Registers}, {C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &r.Shared},
		{C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &r.Local}, {C.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &r.Const},
		{C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &r.ThreadsPerBlock}, {C.CU_FUNC_ATTRIBUTE_PTX_VERSION, &r.PTX},
		{C.CU_FUNC_ATTRIBUTE_BINARY_VERSION, &r.Binary},
	} {
		var v C.int
		if err := failed(C.in_attribute(f.module.ctx.handle, &v, a.attribute, f.handle), "reading an attribute of kernel %q", f.name); err != nil {
			return Resources{}, err
		}
		*a.to = int(v)
	}
	return r, nil
}

// BlocksPerSM is how many blocks of that many threads, with that much dynamic shared memory in bytes, fit on one
// multiprocessor.
func (f *Function) BlocksPerSM(threads, shared int) (int, error) {
	if err := f.module.check(); err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(f)
	var n C.int
	err := failed(C.in_blocks(f.module.ctx.handle, &n, f.handle, C.int(threads), C.size_t(shared)), "computing the occupancy of kernel %q", f.name)
	return int(n), err
}

// Dim is the size of a grid or a block. Zero counts as one.
type Dim struct{ X, Y, Z int }

// Threads is the product of the three.
func (d Dim) Threads() int { return max(d.X, 1) * max(d.Y, 1) * max(d.Z, 1) }

// Launch says how a kernel is started.
type Launch struct {
	Grid, Block Dim
	Shared      int     // bytes of dynamic shared memory for each block
	Stream      *Stream // nil: the default stream
}

// Over is a launch with one thread for each of n elements, in blocks of that many threads.
func Over(n, block int) Launch {
	return Launch{Grid: Dim{X: (n + block - 1) / block}, Block: Dim{X: block}}
}

// Over2 is a launch with one thread for each of x times y elements, in blocks of block by block threads.
func Over2(x, y, block int) Launch {
	return Launch{Grid: Dim{X: (x + block - 1) / block, Y: (y + block - 1) / block}, Block: Dim{X: block, Y: block}}
}

// On is the same launch on a stream.
func (l Launch) On(s *Stream) Launch { l.Stream = s; return l }

// WithShared is the same launch with dynamic shared memory.
func (l Launch) WithShared(bytes int) Launch { l.Shared = bytes; return l }

// Launch starts the kernel; it does not wait. Arguments are device memory (Ref, Ptr) and values of types that have the
// kernel's size: int32 for int, float32 for float, structs for structs. Go's int is 64 bits wide and rarely what a kernel
// takes, so it is refused.
func (f *Function) Launch(l Launch, args ...any) error {
	if err := f.module.check(); err != nil {
		return err
	}
	s, err := l.Stream.use(f.module.ctx)
	if err != nil {
		return fmt.Errorf("launching kernel %q: %w", f.name, err)
	}
	shape, err := l.shape()
	if err != nil {
		return fmt.Errorf("launching kernel %q: %w", f.name, err)
	}
	var pack packer
	for i, a := range args {
		if err := pack.add(a); err != nil {
			return fmt.Errorf("launching kernel %q: argument %d: %w", f.name, i+1, err)
		}
	}
	values, offsets := (*C.char)(nil), (*C.uint32_t)(nil)
	if len(pack.offsets) > 0 {
		values, offsets = (*C.char)(unsafe.Pointer(&pack.values[0])), (*C.uint32_t)(unsafe.Pointer(&pack.offsets[0]))
	}
	defer runtime.KeepAlive(args)
	defer runtime.KeepAlive(f)
	defer runtime.KeepAlive(l.Stream)
	return failed(C.in_launch(f.module.ctx.handle, f.handle, &shape, s, values, offsets, C.uint32_t(len(pack.offsets))),
		"launching kernel %q with grid %v and block %v", f.name, l.Grid, l.Block)
}

func (l Launch) shape() (s C.gander_shape, err error) {
	for i, v := range [...]int{l.Grid.X, l.Grid.Y, l.Grid.Z} {
		if v < 0 || v > 1<<31-1 {
			return s, fmt.Errorf("a grid of %v", l.Grid)
		}
		s.grid[i] = C.uint(max(v, 1))
	}
	for i, v := range [...]int{l.Block.X, l.Block.Y, l.Block.Z} {
		if v < 0 || v > 1<<16 {
			return s, fmt.Errorf("a block of %v", l.Block)
		}
		s.block[i] = C.uint(max(v, 1))
	}
	if l.Shared < 0 || l.Shared > 1<<30 {
		return s, fmt.Errorf("%d bytes of shared memory", l.Shared)
	}
	s.shared = C.uint(l.Shared)
	return s, nil
}

// packer lays arguments out one behind the other.
type packer struct {
	values  []byte
	offsets []uint32
}

// argAlign is enough for every type of CUDA's.
const argAlign = 16

func (p *packer) add(a any) error {
	switch a := a.(type) {
	case reach:
		if reflect.ValueOf(a).IsNil() {
			return fmt.Errorf("it is a nil %T", a)
		}
		if err := a.usable(); err != nil {
			return err
		}
		p.put(a.address())
		return nil
	case nil:
		p.put(Ptr(0))
		return nil
	case int, uint:
		return fmt.Errorf("a Go %T has 64 bits; say int32, int64, … as the kernel does", a)
	}
	v := reflect.ValueOf(a)
	if why := pointers(v.Type()); why != "" {
		return fmt.Errorf("a %v cannot be passed: %s", v.Type(), why)
	}
	p.put(a)
	return nil
}

// put appends the bytes of a value without pointers.
func (p *packer) put(a any) {
	for len(p.values)%argAlign != 0 {
		p.values = append(p.values, 0)
	}
	v := reflect.New(reflect.TypeOf(a)).Elem()
	v.Set(reflect.ValueOf(a))
	n := int(v.Type().Size())
	p.offsets = append(p.offsets, uint32(len(p.values)))
	p.values = append(p.values, unsafe.Slice((*byte)(v.Addr().UnsafePointer()), n)...)
	if n == 0 {
		p.values = append(p.values, 0)
	}
}
