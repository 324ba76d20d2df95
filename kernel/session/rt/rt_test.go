package rt

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestVariables(t *testing.T) {
	x := Define[int]("x")
	*x = 5
	if y := Define[int]("x"); y != x {
		t.Error("defining x again with its type moved it")
	}
	s := Define[string]("x")
	*s = "now a string"
	if old := Old[int]("x", 0); old != x || *old != 5 {
		t.Error("the former x is lost")
	}
	if v := Lookup("x"); v.Type.Kind() != reflect.String || v.Value().String() != "now a string" {
		t.Errorf("x is %v", v.Value())
	}
	d := DefineType("d", reflect.TypeFor[[]int]())
	d.Value().Set(reflect.ValueOf([]int{1}))
	if p := Define[[]int]("d"); len(*p) != 1 {
		t.Error("a variable made by its reflect.Type is not the one of that type")
	}
	DeclareFunc("d", func() int { return 3 })
	if Lookup("d") != nil || Func("d").Call(nil)[0].Int() != 3 {
		t.Error("a function does not take the place of the variable")
	}
	DeclareType("d", reflect.TypeFor[struct{}]())
	if Func("d").IsValid() || Type("d") == nil {
		t.Error("a type does not take the place of the function")
	}
	Forget("d")
	Forget("x")
	if len(Variables()) != 0 || Type("d") != nil {
		t.Error("forgotten names are still there")
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("a variable that never was is found")
		}
	}()
	Old[float64]("x", 0)
}

// TestOldIsWeak lets go of storage that nothing uses.
func TestOldIsWeak(t *testing.T) {
	defer Forget("big")
	gone := make(chan bool, 1)
	func() {
		p := Define[[1 << 20]byte]("big")
		runtime.AddCleanup(p, func(c chan bool) { c <- true }, gone)
	}()
	Define[int]("big")
	Do(1, func() {}) // the run ends
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the former storage is still held")
}

func TestDo(t *testing.T) {
	if f := Do(1, func() {}); f != nil {
		t.Errorf("a run that returns fails: %+v", f)
	}
	cause := errors.New("cause")
	f := Do(2, func() { panic(fmt.Errorf("outer: %w", errors.Join(cause, errors.New("second")))) })
	if f == nil || f.Message() != "outer: cause\nsecond" || f.Interrupted() {
		t.Fatalf("failure %+v", f)
	}
	if got := strings.Join(f.Causes(), "|"); got != "cause\nsecond|cause|second" {
		t.Errorf("causes %q", got)
	}
	if f := Do(3, runtime.Goexit); f == nil || !f.Exited {
		t.Errorf("failure %+v", f)
	}
}

// TestInterrupt stops the goroutines of one run and leaves those of others alone.
func TestInterrupt(t *testing.T) {
	var mu sync.Mutex
	turns := map[string]int{}
	loop := func(name string) {
		for {
			mu.Lock()
			turns[name]++
			mu.Unlock()
			if atomic.LoadUint32(StopFlag) != 0 {
				Halt()
			}
			time.Sleep(time.Millisecond)
		}
	}
	started := make(chan bool)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		f := Do(20, func() {
			run := Current()
			go func() { defer Guard(Enter(run)); loop("child") }()
			close(started)
			loop("main")
		})
		if f == nil || !f.Interrupted() {
			t.Errorf("failure %+v", f)
		}
	}()
	stopOther := make(chan bool)
	go Do(19, func() {
		for {
			select {
			case <-stopOther:
				return
			default:
			}
			if atomic.LoadUint32(StopFlag) != 0 {
				Halt()
			}
			mu.Lock()
			turns["other"]++
			mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	})
	<-started
	Interrupt(20)
	<-ended
	time.Sleep(20 * time.Millisecond)
	Resume()
	mu.Lock()
	child, other := turns["child"], turns["other"]
	mu.Unlock()
	time.Sleep(30 * time.Millisecond)
	mu.Lock()
	if turns["child"] != child {
		t.Error("a goroutine of the interrupted run goes on")
	}
	if turns["other"] == other {
		t.Error("a goroutine of another run has stopped")
	}
	mu.Unlock()
	close(stopOther)
}

func TestGuard(t *testing.T) {
	type told struct {
		run int64
		f   *Failure
	}
	c := make(chan told, 1)
	OnGoroutinePanic(func(run int64, f *Failure) { c <- told{run, f} })
	defer OnGoroutinePanic(nil)
	Do(7, func() {
		run := Current()
		go func() { defer Guard(Enter(run)); panic("x") }()
	})
	if got := <-c; got.run != 7 || got.f.Message() != "x" || !got.f.Goroutine || got.f.Stack == "" {
		t.Errorf("told %+v", got)
	}
	Do(8, func() { go Guarded(func() { panic("y") })() })
	if got := <-c; got.run != 8 || got.f.Message() != "y" {
		t.Errorf("told %+v", got)
	}
}

func TestWriter(t *testing.T) {
	var got strings.Builder
	SetWriter(1, func(run int64, p []byte) { fmt.Fprintf(&got, "%d:%s", run, p) })
	defer SetWriter(1, nil)
	Do(5, func() {
		if n, err := Println("a", 1); n != 4 || err != nil {
			t.Errorf("Println returns %d, %v", n, err)
		}
		Printf("%03d", 7)
		Print("x", 1, 2)
	})
	Println("main.G[gander/d0123456789abcdef0123.T] gander/data")
	if got.String() != "5:a 1\n5:0075:x1 20:main.G[main.T] gander/data\n" {
		t.Errorf("written %q", got.String())
	}
}

func TestShow(t *testing.T) {
	TakeShown()
	if _, ok := TakeShown(); ok {
		t.Error("shown without Show")
	}
	Show(nil)
	if v, ok := TakeShown(); !ok || len(v) != 1 || v[0] != nil {
		t.Errorf("nil is shown as %v", v)
	}
}

type log struct{ lines []string }

func (l *log) Args() bool { return true }
func (l *log) Begin(name string, args []any) uint64 {
	l.lines = append(l.lines, fmt.Sprint("begin ", name, args))
	return 9
}
func (l *log) End(name string, token uint64) {
	l.lines = append(l.lines, fmt.Sprint("end ", name, token))
}

func TestSpans(t *testing.T) {
	Begin("nobody listens").End()
	l := &log{}
	SetSpans(l)
	defer SetSpans(nil)
	s := BeginArgs("f", func() []any { return []any{1, "a"} })
	SetSpans(nil)
	s.End() // goes to who saw the beginning
	if got := strings.Join(l.lines, ";"); got != "begin f[1 a];end f9" {
		t.Errorf("spans %s", got)
	}
}

// Old and new version of a session type, laid out alike.
type t1 struct {
	n    int
	next any
}
type t2 struct {
	n    int
	next any
}

func (t t2) String() string { return fmt.Sprint("t", t.n) }

func TestUpgrade(t *testing.T) {
	defer func() {
		for _, n := range []string{"list", "m", "s", "keys", "shape"} {
			Forget(n)
		}
	}()
	shared := &t1{n: 1}
	*Define[[]any]("list") = []any{t1{n: 2}, shared, []t1{{n: 3}}, map[string]*t1{"k": shared}, 5, nil, [1]t1{{n: 4, next: t1{n: 5}}}}
	*Define[map[string]any]("m") = map[string]any{"a": t1{n: 6, next: shared}, "b": "x"}
	*Define[struct{ hidden any }]("s") = struct{ hidden any }{t1{n: 7}}
	*Define[map[any]int]("keys") = map[any]int{t1{n: 8}: 1, "z": 2}
	loop := &t1{n: 9}
	loop.next = loop
	*Define[any]("shape") = loop
	Upgrade(reflect.TypeFor[t1](), reflect.TypeFor[t2]())
	list := *Define[[]any]("list")
	if got := fmt.Sprint(list[0], list[1].(*t2).n, list[2].([]t2), list[3].(map[string]*t2)["k"].n, list[4], list[5], list[6].([1]t2)[0].next); got != "t2 1 [t3] 1 5 <nil> t5" {
		t.Errorf("list %s", got)
	}
	if any(list[1].(*t2)) != (*Define[map[string]any]("m"))["a"].(t2).next {
		t.Error("a pointer is another one")
	}
	if got := fmt.Sprint((*Define[struct{ hidden any }]("s")).hidden); got != "t7" {
		t.Errorf("field %s", got)
	}
	if k := *Define[map[any]int]("keys"); k[t2{n: 8}] != 1 || k["z"] != 2 || len(k) != 2 {
		t.Errorf("keys %v", k)
	}
	if l := (*Define[any]("shape")).(*t2); l.next.(*t2) != l {
		t.Error("a cycle is broken")
	}
}
