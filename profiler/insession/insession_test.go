package insession

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/kernel/session/rt"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// stopped stops r and returns what arrives in front.
func stopped(t *testing.T, r *recorder) *trace.Trace {
	t.Helper()
	w, err := r.Stop()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	x, err := trace.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestRecordsCalls(t *testing.T) {
	r := new(recorder)
	if err := r.Start([]byte(`{"record_shapes":true,"schedule":{}}`)); err != nil {
		t.Fatal(err)
	}
	outer := rt.Begin("main.train")
	inner := rt.BeginArgs("mat.Mul", func() []any { return []any{[][]float64{{1, 2}, {3, 4}, {5, 6}}, "abc", 7} })
	inner.End()
	outer.End()
	profiler.Begin("mine").End()
	open := rt.Begin("never ends")
	x := stopped(t, r)
	open.End() // after the recording: must not harm
	rt.Begin("after").End()
	var names []string
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Tracks[s.Track].Kind != trace.TrackGoroutine {
			continue
		}
		names = append(names, x.Name(s))
		if x.Name(s) == "mat.Mul" {
			if got := x.Strings.Get(x.Calls[s.Args].Shapes); s.Kind != trace.ArgCall || got != "[[3,2],[3],[]]" {
				t.Errorf("shapes %q", got)
			}
			if s.Flags != trace.FlagInstrument || x.Class(s) != trace.ClassCall {
				t.Errorf("flags %b, class %d", s.Flags, x.Class(s))
			}
		}
	}
	if got := strings.Join(names, " "); got != "main.train mat.Mul mine never ends" {
		t.Errorf("spans %q", got)
	}
}

func TestArgumentsOnlyWhenWanted(t *testing.T) {
	r := new(recorder)
	if err := r.Start(nil); err != nil {
		t.Fatal(err)
	}
	rt.BeginArgs("f", func() []any { t.Error("the arguments were computed"); return nil }).End()
	if x := stopped(t, r); len(x.Calls) > 1 {
		t.Errorf("arguments %+v", x.Calls)
	}
}

func TestStepsOfTheCell(t *testing.T) {
	r := new(recorder)
	if err := r.Start([]byte(`{"schedule":{"wait":1,"warmup":1,"active":1,"repeat":1}}`)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		rt.Begin("work").End()
		profiler.Step()
	}
	x := stopped(t, r)
	var names []string
	for i := range x.Slices {
		if s := &x.Slices[i]; x.Tracks[s.Track].Kind == trace.TrackGoroutine {
			names = append(names, x.Name(s))
		}
	}
	if got := strings.Join(names, " "); got != "ProfilerStep#2 work" {
		t.Errorf("spans %q", got)
	}
}

func TestRefusals(t *testing.T) {
	r := new(recorder)
	if _, err := r.Stop(); err == nil {
		t.Error("stopped nothing")
	}
	for _, o := range []string{`{"nonsense":1}`, `{"activities":"npu"}`, `{"schedule":{"wait":1}}`, `[`} {
		if err := r.Start([]byte(o)); err == nil {
			t.Errorf("started with %s", o)
			r.Stop()
		}
	}
	if err := r.Start(nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(nil); err == nil {
		t.Error("started twice")
	}
	if _, err := profiler.Start(profiler.Options{}); err == nil || !strings.Contains(err.Error(), "by %%profile") {
		t.Errorf("a profile inside the cell: %v", err)
	}
	stopped(t, r)
}

func TestManyOpenCalls(t *testing.T) {
	r := new(recorder)
	if err := r.Start(nil); err != nil {
		t.Fatal(err)
	}
	const goroutines, depth = 50, 40
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			var call func(n int)
			call = func(n int) {
				s := rt.Begin("f")
				defer s.End()
				if n > 1 {
					call(n - 1)
				}
			}
			call(depth)
		})
	}
	wg.Wait()
	x := stopped(t, r)
	n := 0
	for i := range x.Slices {
		if x.Name(&x.Slices[i]) == "f" {
			if n++; x.Slices[i].Flags != trace.FlagInstrument {
				t.Fatalf("flags %b", x.Slices[i].Flags)
			}
		}
	}
	if n != goroutines*depth {
		t.Errorf("%d calls of %d", n, goroutines*depth)
	}
}

type matrix struct{}

func (matrix) Dims() (int, int) { return 3, 4 }

type tensor struct{ fails bool }

func (t tensor) Shape() []int {
	if t.fails {
		panic("x")
	}
	return []int{2, 3, 4}
}

func TestShapes(t *testing.T) {
	var none *[]int
	for _, c := range []struct {
		a    any
		want []int
	}{
		{7, nil}, {nil, nil}, {none, nil}, {"abcd", []int{4}}, {map[int]int{1: 1}, []int{1}}, {make(chan int, 3), []int{0}},
		{[]int{}, []int{0}}, {[3]int{}, []int{3}}, {&[]string{"a", "b"}, []int{2}}, {[][]float64{{1, 2, 3}, {4}}, []int{2, 3}},
		{[][][][][]int{{{{{1, 2}}}}}, []int{1, 1, 1, 1}}, {[]string{"abc"}, []int{1}},
		{matrix{}, []int{3, 4}}, {tensor{}, []int{2, 3, 4}}, {tensor{fails: true}, nil},
	} {
		if got := shapeOf(c.a); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%T %v has shape %v, want %v", c.a, c.a, got, c.want)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	r := new(recorder)
	if err := r.Start([]byte(`{"activities":"cpu","max_events":1000000}`)); err != nil {
		b.Fatal(err)
	}
	defer r.Stop()
	b.ReportAllocs()
	for b.Loop() {
		rt.Begin("f").End()
	}
}
