package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gander-go/gander/display"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/rt"
)

// runState is what other goroutines need to know of the running unit.
type runState struct {
	// mu guards what follows.
	mu        sync.Mutex
	run       int64           // 0 between runs
	early     *link.Interrupt // of a run that had not begun
	goroutine string
	leave     chan string // receives the stack with which the run is left behind
	cancel    context.CancelFunc
	stopped   bool        // by an interrupt
	unread    bool        // the interrupt made a read of standard input fail
	panicked  *rt.Failure // of a goroutine of the run

	interp    Interpreter
	interpErr error
}

// run runs one unit and reports its end.
func (p *process) run(r *link.Run) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &p.state
	s.mu.Lock()
	s.run, s.cancel, s.stopped, s.unread, s.panicked, s.goroutine = r.ID, cancel, false, false, nil, ""
	s.leave = make(chan string, 1)
	leave := s.leave
	early := s.early
	if early != nil && early.Run != r.ID {
		early = nil
	}
	s.mu.Unlock()
	endInput := p.input.begin(r)
	if early != nil {
		p.interrupt(early)
	}
	rt.TakeShown()
	rt.Prepare(r.Revert, r.Vars, r.Unit.Olds)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	userBefore, systemBefore := cpuTimes()
	start := time.Now()
	ended := make(chan result, 1)
	go func() {
		var res result
		res.failure = rt.Do(r.ID, func() {
			s.mu.Lock()
			if s.run == r.ID {
				s.goroutine = currentGoroutine()
			}
			s.mu.Unlock()
			res.err = p.execute(ctx, &r.Unit)
		})
		ended <- res
	}()
	var res result
	var left string
	select {
	case res = <-ended:
	case left = <-leave:
		rt.Leave(r.ID)
		go p.leftBehind(r.ID, ended)
	}
	done := link.Done{ID: r.ID, Wall: int64(time.Since(start))}
	user, system := cpuTimes()
	done.CPU, done.System = user+system-userBefore-systemBefore, system-systemBefore
	runtime.ReadMemStats(&after)
	done.Allocs, done.Mallocs = int64(after.TotalAlloc-before.TotalAlloc), int64(after.Mallocs-before.Mallocs)

	s.mu.Lock()
	stopped, unread, panicked := s.stopped, s.unread, s.panicked
	s.run, s.cancel = 0, nil
	s.mu.Unlock()
	rt.Resume()
	endInput()
	switch {
	case left == "":
		done.Err = outcome(res.failure, panicked, res.err, stopped)
		if done.Err == nil && unread { // it ran to its end without what it had asked for
			done.Err = &link.Failure{Kind: "interrupted", Message: "interrupted while it waited for input"}
		}
	case stopped:
		done.Err = &link.Failure{Kind: "interrupted", Stack: left, Message: "interrupted; the cell was blocked (" + waitState(left) + ") and has been left behind"}
	default:
		done.Err = outcome(nil, panicked, nil, false)
	}
	if v, ok := rt.TakeShown(); ok && done.Err == nil && !r.Quiet {
		done.Value, done.Err = renderValues(v)
	}
	if done.Err == nil {
		rt.Keep()
	}
	if registry.flush != nil {
		registry.flush()
	}
	if err := p.tape.send(link.KindDone, done); err != nil { // the value is too large, or has metadata that is no JSON
		done.Value, done.Err = nil, &link.Failure{Kind: "panic", Message: "showing the value: " + err.Error()}
		p.tape.send(link.KindDone, done)
	}
}

// result is how a run's goroutine ended; err is why the unit could not be run.
type result struct {
	failure *rt.Failure
	err     error
}

// leftBehind waits for the end of a run that was left behind.
func (p *process) leftBehind(run int64, ended chan result) {
	res := <-ended
	rt.Left(run)
	if f := res.failure; f != nil && !f.Interrupted() && !f.Exited {
		p.tape.write(tapeStderr, run, []byte("panic in a cell that was interrupted: "+message(f)+"\n"+f.Stack))
	}
}

// tryLeave leaves the run behind as soon as its goroutine is blocked in Go code. A goroutine that runs, or is in
// a system call or in C code, cannot be left: nobody knows what it does.
func (p *process) tryLeave(run int64) {
	s := &p.state
	again := true
	for last := ""; ; time.Sleep(50 * time.Millisecond) {
		s.mu.Lock()
		current, name, leave := s.run == run, s.goroutine, s.leave
		s.mu.Unlock()
		if !current {
			return
		}
		stack := goroutineStack(name)
		if waitState(stack) != "" && stack == last {
			select {
			case leave <- stack:
			default:
			}
			return
		}
		last = stack
		if title, _, _ := strings.Cut(stack, "\n"); again && strings.Contains(title, "[syscall") {
			again = false
			signalChildren() // it may wait for a child that had not begun when it was interrupted
		}
	}
}

// execute runs u on the run's goroutine. An error means that u could not be run.
func (p *process) execute(ctx context.Context, u *link.Unit) error {
	var entry func()
	for i, path := range u.Plugins {
		if registry.loader == nil {
			return errors.New("this session process cannot load compiled cells")
		}
		name := ""
		if i == len(u.Plugins)-1 {
			name = u.Entry
		}
		f, err := registry.loader(path, name)
		if err != nil {
			return err
		}
		entry = f
	}
	if u.Engine != link.EngineInterp {
		if entry != nil {
			entry()
		}
		return nil
	}
	in, err := p.interpreter()
	if err != nil {
		return err
	}
	return in.Run(ctx, u)
}

func (p *process) interpreter() (Interpreter, error) {
	s := &p.state
	if s.interp == nil && s.interpErr == nil {
		if registry.interpreter == nil {
			return nil, errors.New("this session process has no interpreter")
		}
		s.interp, s.interpErr = registry.interpreter()
	}
	return s.interp, s.interpErr
}

// interrupt asks the running unit to stop: compiled code by its checks, interpreted code by its context, reads of
// standard input by failing, and child processes by the signal that a terminal would send them.
func (p *process) interrupt(m *link.Interrupt) {
	s := &p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == 0 || m.Run != s.run {
		s.early = m
		return
	}
	s.stopped = true
	rt.Interrupt(s.run)
	s.cancel()
	s.unread = p.input.interrupt() || s.unread
	if m.LeaveAfter > 0 {
		time.AfterFunc(time.Duration(m.LeaveAfter), func() { p.tryLeave(m.Run) })
	}
	signalChildren()
}

// signalChildren sends the process group what a terminal would. The process itself takes no notice of it.
func signalChildren() {
	if syscall.Getpgrp() == os.Getpid() {
		syscall.Kill(0, syscall.SIGINT)
	}
}

// goroutinePanicked is told of the panic of a goroutine that a cell started. A Go program would end there; the session
// goes on, but the cell that started the goroutine ends.
func (p *process) goroutinePanicked(run int64, f *rt.Failure) {
	s := &p.state
	s.mu.Lock()
	current := run != 0 && s.run == run
	if current && s.panicked == nil {
		s.panicked = f
		rt.Interrupt(run)
		s.cancel()
	}
	s.mu.Unlock()
	if current {
		time.AfterFunc(leavePanicked, func() { p.tryLeave(run) })
		return
	}
	p.tape.write(tapeStderr, run, []byte(fmt.Sprintf("panic in a goroutine: %s\n%s", message(f), f.Stack)))
}

// leavePanicked is how long a cell may take to end after one of its goroutines has panicked.
const leavePanicked = 300 * time.Millisecond

// outcome turns how a run ended into its failure; nil when it ended well.
func outcome(f, panicked *rt.Failure, err error, stopped bool) *link.Failure {
	if f == nil && err != nil {
		var p *Panic
		switch {
		case errors.As(err, &p):
			f = &rt.Failure{Value: p.Value, Stack: string(p.Stack)}
		case stopped && (errors.Is(err, context.Canceled) || errors.Is(err, rt.Interrupted{})):
			f = &rt.Failure{Value: rt.Interrupted{}}
		case panicked == nil:
			return &link.Failure{Kind: "load", Message: err.Error()}
		}
	}
	if panicked != nil && (f == nil || f.Interrupted()) && !stopped {
		f = panicked
	}
	switch {
	case f == nil:
		return nil
	case f.Interrupted():
		return &link.Failure{Kind: "interrupted", Message: "interrupted", Stack: f.Stack}
	case f.Exited:
		return &link.Failure{Kind: "goexit", Message: "the cell ended its goroutine with runtime.Goexit"}
	}
	r := &link.Failure{Kind: "panic", Message: message(f), GoType: rt.Sprintf("%T", f.Value), Stack: f.Stack}
	guard(func() {
		for _, c := range f.Causes() {
			r.Causes = append(r.Causes, rt.PlainText(c))
		}
	})
	if stopped { // most likely over what the interrupt made fail
		r.Kind, r.Message = "interrupted", "interrupted; the cell then panicked: "+r.Message
	}
	return r
}

// message is what the panic value says of itself, also when saying it panics.
func message(f *rt.Failure) (s string) {
	if !guard(func() { s = f.Message() }) {
		s = fmt.Sprintf("%T, which panics when it is printed", f.Value)
	}
	return rt.PlainText(s)
}

// guard calls f, a method of a user's value, and reports whether it returned.
func guard(f func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	f()
	return true
}

// renderValues makes the bundle of a trailing expression. The methods that it calls are the user's and may panic.
func renderValues(v []any) (b *link.Bundle, f *link.Failure) {
	if len(v) == 0 {
		return nil, nil
	}
	res := rt.Do(-1, func() { b = toLink(display.Render(v...)) })
	return b, outcome(res, nil, nil, false)
}

// toLink converts a bundle to the link's form.
func toLink(b display.Bundle) *link.Bundle {
	l := &link.Bundle{Text: map[string]string{}, B64: map[string][]byte{}, JSON: map[string]json.RawMessage{}, Metadata: b.Metadata}
	for mime, v := range b.Data {
		switch v := v.(type) {
		case string:
			l.Text[mime] = rt.PlainText(v)
		case []byte:
			l.B64[mime] = v
		case json.RawMessage:
			l.JSON[mime] = v
		}
	}
	return l
}

// cpuTimes is what the process has used so far, in ns.
func cpuTimes() (user, system int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return u.Utime.Nano(), u.Stime.Nano()
}

// currentGoroutine is "goroutine N", as stack dumps name the calling one.
func currentGoroutine() string {
	var b [64]byte
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), " [")
	return head
}
