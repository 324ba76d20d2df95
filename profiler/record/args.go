package record

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gander-go/gander/profiler/trace"
)

// Op describes an operator: a piece of work whose cost is known from its arguments.
type Op struct {
	Shapes [][]int  // shape of each argument; a scalar has the empty shape
	Types  []string // element type of each argument ("float64"), or nil
	FLOPs  int64    // floating-point operations, 0 when unknown
	Bytes  int64    // bytes read and written at least once, 0 when unknown

	Estimate bool // FLOPs depend on the data: the number is an estimate
}

// BeginOp is Begin for an operator. The Op is copied where needed: it may be a composite literal on the stack.
func BeginOp(name string, op *Op) Span {
	r := active.Load()
	if r == nil || r.noSpans {
		return Span{}
	}
	id := r.names.id(name, trace.ClassOp, 0)
	if r.heavy {
		return r.beginHeavy(id, r.argOf(op))
	}
	return r.reserve(id, r.argOf(op))
}

// BeginCallOp is BeginCall for a call whose arguments have shapes.
func BeginCallOp(name string, op *Op) Span {
	r := active.Load()
	if r == nil || r.noSpans {
		return Span{}
	}
	id := r.names.id(name, trace.ClassCall, trace.FlagInstrument)
	if r.heavy {
		return r.beginHeavy(id, r.argOf(op))
	}
	return r.reserve(id, r.argOf(op))
}

// maxArgs bounds the different arguments that are kept; maxDims those of one operator.
const (
	maxArgs   = 1 << 20
	maxDims   = 48 // numbers, ranks included
	maxTypes  = 12
	maxFrames = 64
	argCache  = 1024 // a power of two
)

// arg is one distinct combination of what spans have in common besides their name.
type arg struct {
	hash   uint64
	id     uint32
	dims   []int32  // for each argument its rank and then its dimensions
	types  []uint32 // names of element types
	flops  int64
	bytes  int64
	about  bool      // flops is an estimate
	frames []uintptr // call stack, innermost first
	next   *arg      // same hash
}

// args interns arguments, because programs call the same operator with the same shapes over and over.
type args struct {
	cache [argCache]atomic.Pointer[arg]
	lost  atomic.Int64

	// mu guards the rest.
	mu     sync.RWMutex
	byHash map[uint64]*arg
	list   []*arg // id-1 indexes it
}

// argOf interns what r wants of op (which may be nil) and, when it keeps stacks, the caller's stack. It returns 0 when
// there is nothing to keep.
func (r *Recorder) argOf(op *Op) uint32 {
	if r.config.Stacks {
		var pcs [maxFrames]uintptr
		return r.describe(op, pcs[:runtime.Callers(callerSkip, pcs[:])])
	}
	if op == nil {
		return 0
	}
	return r.describe(op, nil)
}

func (r *Recorder) describe(op *Op, frames []uintptr) uint32 {
	var (
		dims [maxDims]int32
		ids  [maxTypes]uint32
	)
	a := arg{frames: frames}
	if op != nil && r.config.Shapes {
		a.dims = flatten(dims[:0], op.Shapes)
		// Names instead of strings keep op off the heap: no pointer of it is kept.
		a.types = ids[:min(len(op.Types), maxTypes)]
		for i := range a.types {
			a.types[i] = r.names.id(op.Types[i], trace.ClassOther, 0)
		}
	}
	if op != nil && r.config.FLOPs {
		a.flops, a.bytes, a.about = op.FLOPs, op.Bytes, op.Estimate && op.FLOPs != 0
	}
	if len(a.dims) == 0 && len(a.types) == 0 && a.flops == 0 && a.bytes == 0 && len(a.frames) == 0 {
		return 0
	}
	return r.args.id(&a)
}

// callerSkip leaves out runtime.Callers and argOf; the recorder's remaining frames are dropped by name when the stack is
// resolved, because inlining makes their number vary.
const callerSkip = 2

func flatten(out []int32, shapes [][]int) []int32 {
	for _, s := range shapes {
		if len(out)+1+len(s) > maxDims {
			break
		}
		out = append(out, int32(len(s)))
		for _, d := range s {
			out = append(out, int32(min(max(d, -1<<31), 1<<31-1)))
		}
	}
	return out
}

// sum hashes a. It only has to spread well what one program uses: equal decides.
func (a *arg) sum() uint64 {
	h := uint64(a.flops)
	mix := func(v uint64) {
		hi, lo := bits.Mul64(h^v, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	mix(uint64(a.bytes))
	mix(uint64(len(a.dims))<<32 | uint64(len(a.types)))
	for _, d := range a.dims {
		mix(uint64(uint32(d)))
	}
	for _, t := range a.types {
		mix(uint64(t))
	}
	for _, f := range a.frames {
		mix(uint64(f))
	}
	return h
}

func (a *arg) equal(b *arg) bool {
	return a.hash == b.hash && a.flops == b.flops && a.bytes == b.bytes && a.about == b.about &&
		slices.Equal(a.dims, b.dims) && slices.Equal(a.frames, b.frames) && slices.Equal(a.types, b.types)
}

func (t *args) id(a *arg) uint32 {
	a.hash = a.sum()
	slot := &t.cache[a.hash&(argCache-1)]
	if b := slot.Load(); b != nil && b.equal(a) {
		return b.id
	}
	t.mu.RLock()
	b := t.byHash[a.hash]
	t.mu.RUnlock()
	for ; b != nil; b = b.next {
		if b.equal(a) {
			slot.Store(b)
			return b.id
		}
	}
	return t.add(a, slot)
}

// add keeps a copy of a, whose slices lie on its caller's stack.
func (t *args) add(a *arg, slot *atomic.Pointer[arg]) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.byHash[a.hash]
	for b := first; b != nil; b = b.next {
		if b.equal(a) {
			return b.id
		}
	}
	if len(t.list) >= maxArgs {
		t.lost.Add(1)
		return 0
	}
	if t.byHash == nil {
		t.byHash = make(map[uint64]*arg)
	}
	b := &arg{
		hash: a.hash, id: uint32(len(t.list) + 1), flops: a.flops, bytes: a.bytes, about: a.about, next: first,
		dims: slices.Clone(a.dims), types: slices.Clone(a.types), frames: slices.Clone(a.frames),
	}
	t.list = append(t.list, b)
	t.byHash[a.hash] = b
	slot.Store(b)
	return b.id
}

// all returns the arguments; the one with id i is at i-1.
func (t *args) all() []*arg {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[:len(t.list):len(t.list)]
}
