package record

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

func TestOperatorArguments(t *testing.T) {
	r := recording(t, Config{Shapes: true, FLOPs: true})
	op := Op{Shapes: [][]int{{64, 32}, {}, {-1, 1 << 40}}, Types: []string{"float64", "Scalar"}, FLOPs: 1 << 50, Bytes: 12}
	for range 3 {
		BeginOp("matmul", &op).End()
	}
	op.Shapes[0][0] = 65 // the recorder must have copied it
	BeginOp("matmul", &op).End()
	BeginOp("other", nil).End()
	x := built(t, r)
	if len(x.Ops) != 3 {
		t.Fatalf("%d rows of arguments, want the unused one and one for each shape", len(x.Ops))
	}
	for i, want := range []string{"[[64,32],[],[-1,2147483647]]", "[[65,32],[],[-1,2147483647]]"} {
		a := x.Ops[i+1]
		if got := x.Strings.Get(a.Dims); got != want {
			t.Errorf("shapes %s, want %s", got, want)
		}
		if got := x.Strings.Get(a.Types); got != `["float64","Scalar"]` {
			t.Errorf("types %s", got)
		}
		if a.FLOPs != 1<<50 || a.Bytes != 12 || a.Sequence != trace.NoSequence {
			t.Errorf("arguments %+v", a)
		}
	}
	if s := &x.Slices[4]; s.Kind != trace.NoArgs || x.Class(s) != trace.ClassOp {
		t.Errorf("an operator without arguments: %+v", s)
	}
}

func TestOnlyWhatIsWantedIsKept(t *testing.T) {
	op := &Op{Shapes: [][]int{{2}}, FLOPs: 7, Bytes: 9}
	for _, c := range []struct {
		config Config
		dims   string
		flops  int64
		kept   bool
	}{{Config{}, "", 0, false}, {Config{Shapes: true}, "[[2]]", 0, true}, {Config{FLOPs: true}, "", 7, true}} {
		r := New(c.config)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		BeginOp("x", op).End()
		x := built(t, r)
		if !c.kept {
			if x.Slices[0].Kind != trace.NoArgs {
				t.Errorf("%+v kept arguments", c.config)
			}
			continue
		}
		if a := x.Ops[x.Slices[0].Args]; x.Strings.Get(a.Dims) != c.dims || a.FLOPs != c.flops {
			t.Errorf("%+v kept %s and %d FLOPs", c.config, x.Strings.Get(a.Dims), a.FLOPs)
		}
	}
}

//go:noinline
func stackOfThis() Span { return Begin("deep") }

func TestStacks(t *testing.T) {
	r := recording(t, Config{Stacks: true, Memory: true})
	stackOfThis().End()
	BeginCall("call").End()
	b := make([]byte, 10)
	Alloc("buf", unsafe.Pointer(&b[0]), 10)
	x := built(t, r)
	leaf := func(id trace.StackID) string {
		if id == 0 {
			return ""
		}
		return x.Strings.Get(x.Frames[x.Stacks[id].Frame].Func)
	}
	root := func(id trace.StackID) string {
		for x.Stacks[id].Parent != 0 {
			id = x.Stacks[id].Parent
		}
		return leaf(id)
	}
	s := x.Ops[x.Slices[0].Args].Stack
	if got := leaf(s); !strings.HasSuffix(got, ".stackOfThis") {
		t.Errorf("innermost frame is %q", got)
	}
	if got := root(s); got != "testing.tRunner" {
		t.Errorf("outermost frame is %q", got)
	}
	for _, id := range []trace.StackID{x.Calls[x.Slices[1].Args].Stack, x.Memory[0].Stack} {
		if got := leaf(id); !strings.HasSuffix(got, ".TestStacks") {
			t.Errorf("innermost frame is %q", got)
		}
	}
}

func TestNamesOfEqualAddress(t *testing.T) {
	r := recording(t, Config{})
	buf := []byte("aaaa")
	s := unsafe.String(&buf[0], len(buf))
	Begin(s).End()
	copy(buf, "bbbb") // what reusing the memory of a dead string amounts to
	Begin(s).End()
	Begin("aaaa").End()
	if got := fmt.Sprint(spanNames(built(t, r))); got != "[aaaa bbbb aaaa]" {
		t.Errorf("names: %s", got)
	}
}

func TestNamesAreBounded(t *testing.T) {
	r := recording(t, Config{})
	big := strings.Repeat("x", 1<<20)
	for i := range 70 {
		Begin(fmt.Sprint(i, big)).End()
	}
	x := built(t, r)
	lost := problem(x, "dropped-names")
	other := int64(0)
	for _, n := range spanNames(x) {
		if n == otherNames {
			other++
		}
	}
	if lost == 0 || lost != other || len(x.Slices) != 70 {
		t.Errorf("%d names lost, %d spans of %d under %q", lost, other, len(x.Slices), otherNames)
	}
}

func TestSameNameInTwoParts(t *testing.T) {
	r := recording(t, Config{})
	Begin("x").End()
	BeginOp("x", nil).End()
	BeginCall("x").End()
	r.BeginStep(3).End()
	x := built(t, r)
	for i, want := range []trace.Class{trace.ClassAnnotation, trace.ClassOp, trace.ClassCall, trace.ClassStep} {
		if got := x.Class(&x.Slices[i]); got != want {
			t.Errorf("span %d has class %d, want %d", i, got, want)
		}
	}
	if x.Slices[2].Flags != trace.FlagInstrument || x.Name(&x.Slices[3]) != "ProfilerStep#3" {
		t.Errorf("%b %q", x.Slices[2].Flags, x.Name(&x.Slices[3]))
	}
}
