package record

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// EstimatedFLOPs is the key, in the other arguments of an operator, that says that its FLOPs are an estimate.
const EstimatedFLOPs = "FLOPs are an estimate"

// argBuilder turns interned arguments into rows of the trace's side tables, each at most once.
type argBuilder struct {
	t      *trace.Trace
	args   []*arg
	names  []*name
	ops    map[uint32]uint32
	calls  map[uint32]uint32
	stacks *trace.StackIndex
}

// ref returns what a slice with argument id refers to.
func (b *argBuilder) ref(id uint32, call bool) (trace.ArgKind, uint32) {
	if int(id) > len(b.args) {
		return trace.NoArgs, 0
	}
	a := b.args[id-1]
	if call {
		if b.calls == nil {
			b.calls = make(map[uint32]uint32)
			b.t.Calls = first(b.t.Calls)
		}
		n, ok := b.calls[id]
		if !ok {
			n = uint32(len(b.t.Calls))
			b.calls[id] = n
			b.t.Calls = append(b.t.Calls, trace.CallArgs{Stack: b.stack(a), Shapes: b.dims(a), ID: -1, Parent: -1, Module: -1})
		}
		return trace.ArgCall, n
	}
	if b.ops == nil {
		b.ops = make(map[uint32]uint32)
		b.t.Ops = first(b.t.Ops)
	}
	n, ok := b.ops[id]
	if !ok {
		n = uint32(len(b.t.Ops))
		b.ops[id] = n
		op := trace.OpArgs{Dims: b.dims(a), Types: b.types(a), Stack: b.stack(a), Sequence: trace.NoSequence, FLOPs: a.flops, Bytes: a.bytes}
		if a.about {
			op.Extra = b.t.Strings.ID(`{"` + EstimatedFLOPs + `":true}`)
		}
		b.t.Ops = append(b.t.Ops, op)
	}
	return trace.ArgOp, n
}

// first makes sure that index 0 of a side table is taken.
func first[T any](list []T) []T {
	if len(list) == 0 {
		return make([]T, 1)
	}
	return list
}

// dims writes shapes as Kineto's "Input Dims" does: [[64,32],[]].
func (b *argBuilder) dims(a *arg) trace.StringID {
	if len(a.dims) == 0 {
		return 0
	}
	text := []byte{'['}
	for i := 0; i < len(a.dims); {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '[')
		rank := int(a.dims[i])
		for j := range rank {
			if j > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(a.dims[i+1+j]), 10)
		}
		text = append(text, ']')
		i += 1 + rank
	}
	return b.t.Strings.IDBytes(append(text, ']'))
}

func (b *argBuilder) types(a *arg) trace.StringID {
	if len(a.types) == 0 {
		return 0
	}
	list := make([]string, len(a.types))
	for i, id := range a.types {
		list[i] = b.names[id].text
	}
	text, err := json.Marshal(list)
	if err != nil {
		return 0
	}
	return b.t.Strings.IDBytes(text)
}

// stack resolves a's return addresses, leaving out the recorder's own frames, those of the process that runs cells, and
// runtime.goexit.
func (b *argBuilder) stack(a *arg) trace.StackID {
	if len(a.frames) == 0 {
		return 0
	}
	if b.stacks == nil {
		b.stacks = b.t.StackIndex()
	}
	frames := runtime.CallersFrames(a.frames)
	var path []trace.FrameID // innermost first
	outermost := 0           // of the program's own
	for {
		f, more := frames.Next()
		if f.Function != "" && !(len(path) == 0 && ours(f)) && f.Function != "runtime.goexit" {
			path = append(path, b.stacks.Frame(f.Function, f.File, int32(f.Line)))
			if !session(f.Function) {
				outermost = len(path)
			}
		}
		if !more {
			break
		}
	}
	var id trace.StackID
	for i := outermost - 1; i >= 0; i-- {
		id = b.stacks.Push(id, path[i])
	}
	return id
}

// ours reports whether f is a frame of the profiler's API, of this package, of hooks or of what instrumented cells call.
func ours(f runtime.Frame) bool {
	if session(f.Function) {
		return true
	}
	const root = "github.com/gander-go/gander/profiler"
	rest, ok := strings.CutPrefix(f.Function, root)
	if !ok || strings.HasSuffix(f.File, "_test.go") || strings.HasPrefix(filepath.Base(f.File), "example") {
		return false
	}
	return strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/record.") || strings.HasPrefix(rest, "/insession.") || strings.HasPrefix(rest, "/hooks/")
}

// session reports whether a function belongs to the process that runs cells: its frames are below every cell.
func session(function string) bool {
	return strings.HasPrefix(function, "github.com/gander-go/gander/kernel/session/")
}
