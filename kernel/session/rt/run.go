package rt

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"
)

// Stopping is what compiled cells look at: they read it without synchronisation, and call Halt when it is not 0. Only this package sets it.
var Stopping uint32

// StopFlag is Stopping's address, for loops: they keep it in a register.
var StopFlag = &Stopping

// Interrupted is the panic value with which interrupted code ends.
type Interrupted struct{}

func (Interrupted) Error() string { return "interrupted" }

// Failure is a run, or a goroutine of one, that did not end well.
type Failure struct {
	Value     any    // of the panic
	Stack     string // as runtime/debug prints it
	Goroutine bool   // a goroutine that the cell started, not the cell's own statements
	Exited    bool   // runtime.Goexit ended the cell
}

// Interrupted reports whether the run was stopped by an interrupt.
func (f *Failure) Interrupted() bool {
	_, ok := f.Value.(Interrupted)
	return ok
}

// Message is what the runtime would print after "panic: ".
func (f *Failure) Message() string {
	switch v := f.Value.(type) {
	case nil:
		return ""
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(f.Value)
}

// Causes are the messages of the errors that the panic value wraps or joins, outermost first.
func (f *Failure) Causes() []string {
	var r []string
	var walk func(err error)
	walk = func(err error) {
		for _, e := range unwrap(err) {
			if e != nil && len(r) < 64 {
				r = append(r, e.Error())
				walk(e)
			}
		}
	}
	if err, ok := f.Value.(error); ok {
		walk(err)
	}
	return r
}

func unwrap(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	if e := errors.Unwrap(err); e != nil {
		return []error{e}
	}
	return nil
}

var runs struct {
	owner sync.Map // goroutine id -> int64, the run that it belongs to
	stop  atomic.Int64
	main  atomic.Int64 // the goroutine of the last Do
	mu    sync.Mutex
	// fail is told of goroutines that panicked. mu guards it.
	fail func(run int64, f *Failure)
}

// OnGoroutinePanic sets what is told when a goroutine that a cell started panics. The process goes on; f may be called from
// several goroutines at once, also after the run has ended.
func OnGoroutinePanic(f func(run int64, f *Failure)) {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	runs.fail = f
}

// Do calls f as run number run (not 0) in a goroutine of its own and waits for it. It returns nil when f returned.
func Do(run int64, f func()) *Failure {
	done := make(chan *Failure, 1)
	go func() {
		id := goid.Get()
		runs.owner.Store(id, run)
		runs.main.Store(id)
		defer settle()
		res := &Failure{Exited: true}
		defer func() {
			runs.owner.Delete(id)
			done <- res
		}()
		defer func() {
			if v := recover(); v != nil {
				res = &Failure{Value: v, Stack: string(debug.Stack())}
			}
		}()
		f()
		res = nil
	}()
	return <-done
}

// Interrupt makes the compiled code that belongs to run end at its next check. Resume must follow once the run has ended.
func Interrupt(run int64) {
	left.mu.Lock()
	defer left.mu.Unlock()
	runs.stop.Store(run)
	atomic.StoreUint32(&Stopping, 1)
}

// Resume ends the effect of Interrupt.
func Resume() {
	left.mu.Lock()
	defer left.mu.Unlock()
	atomic.StoreUint32(&Stopping, 0)
	runs.stop.Store(0)
}

// Halt is called by compiled code that has seen StopFlag. It ends the goroutine's work with a panic when the goroutine belongs to the run
// that is interrupted or was left behind, and returns otherwise, so that goroutines which earlier cells left behind go on.
func Halt() {
	stop := runs.stop.Load()
	if stop == 0 && goid.Get() == runs.main.Load() {
		return
	}
	if run := Current(); run != 0 && (run == stop || isLeft(run)) {
		panic(Interrupted{})
	}
	runtime.Gosched()
}

// Current is the run that the calling goroutine belongs to, 0 for none.
func Current() int64 {
	if v, ok := runs.owner.Load(goid.Get()); ok {
		return v.(int64)
	}
	return 0
}

// Enter is called first in a goroutine that a cell starts; run is Current of the goroutine that started it. The result is
// for Guard.
func Enter(run int64) (token int64) {
	id := goid.Get()
	runs.owner.Store(id, run)
	return id
}

// Guarded is f for a library that calls it on a goroutine of its own.
func Guarded(f func()) func() {
	run := Current()
	return func() {
		defer Guard(Enter(run))
		f()
	}
}

// Guard is deferred first in a goroutine that a cell starts. It keeps a panic from ending the process.
func Guard(token int64) {
	v := recover()
	run := int64(0)
	if r, ok := runs.owner.LoadAndDelete(token); ok {
		run = r.(int64)
	}
	if v == nil {
		return
	}
	if _, ok := v.(Interrupted); ok {
		return
	}
	f := &Failure{Value: v, Stack: string(debug.Stack()), Goroutine: true}
	runs.mu.Lock()
	tell := runs.fail
	runs.mu.Unlock()
	if tell != nil {
		tell(run, f)
		return
	}
	fmt.Fprintf(Stderr, "panic in goroutine: %s\n%s", f.Message(), f.Stack)
}
