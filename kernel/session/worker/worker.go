// Package worker is what runs inside the session process: it opens plugins and calls them, hands interpreted units to
// the interpreter, tells the front what the user's code shows, and ends when the front goes away.
//
// It is not the place of anything that the user did not ask to run: checking, building, analysis and rendering live in
// the front process. It links the standard library and packages of ours that import nothing else.
//
// Invariant: one unit runs at a time, and everything a unit wrote or displayed reaches the front before its Done.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/gander-go/gander/display"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/kernel/session/rt"
)

// Interpreter runs units whose engine is link.EngineInterp. It lives with its implementation in worker/interp.
type Interpreter interface {
	// Run runs u to its end, creating u.Vars first. Its output goes to rt's writers and its value to rt's Show, as that
	// of compiled units does. A failure of the user's code is returned as a *Panic or simply escapes as a panic; another
	// error means that the unit could not be run. When ctx ends it returns ctx's error as soon as it can. It is called
	// on the goroutine of the run (rt.Current is the run).
	Run(ctx context.Context, u *link.Unit) error
}

// Panic is a panic of interpreted code.
type Panic struct {
	Value any
	Stack []byte // as runtime/debug prints it; frames of user code at In[n]:line
}

func (p *Panic) Error() string { return fmt.Sprint("panic: ", p.Value) }

// Recorder records a profile in this process. It is registered by the profiler's part of the session process.
type Recorder interface {
	// Start begins recording; options is the JSON of the profiler's options. An error means that nothing records.
	Start(options []byte) error
	// Stop ends recording and returns what writes the trace in its file form.
	Stop() (io.WriterTo, error)
}

// registry is filled by init functions and read-only after.
var registry struct {
	interpreter func() (Interpreter, error)
	recorder    Recorder
	loader      func(path, entry string) (func(), error)
	flush       func()
}

// RegisterInterpreter sets what makes the interpreter; it is called once, when the first unit needs it. For use in init.
func RegisterInterpreter(make func() (Interpreter, error)) { registry.interpreter = make }

// RegisterRecorder sets the recorder. For use in init.
func RegisterRecorder(r Recorder) { registry.recorder = r }

// RegisterLoader sets what opens the plugin at path and finds its func() entry. For use in init.
func RegisterLoader(load func(path, entry string) (func(), error)) { registry.loader = load }

// RegisterFlush sets what writes out text that C code has printed and the C library keeps. For use in init.
func RegisterFlush(flush func()) { registry.flush = flush }

// The files that the front hands over, beside the standard ones.
const (
	linkFD  = 3 // stream socket of link frames
	tapeFD  = 4 // datagram socket whose messages are in order with what is written to files 1 and 2
	crashFD = 5 // pipe for the runtime's crash report
)

// process is the session process's state.
type process struct {
	conn  *link.Conn
	tape  *tape
	input *input
	runs  chan *link.Run
	jobs  chan func() // served between runs
	state runState
}

// Main runs the session process until the front goes away, and ends the process. It must be called from main at once:
// it takes over files 0 to 5.
func Main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "gander session:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve is Main up to the end of the process.
func serve() error {
	for _, fd := range []int{linkFD, tapeFD, crashFD} {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return errors.New("this command is started by the kernel, not by hand")
		}
		syscall.CloseOnExec(fd)
	}
	// An interrupt of the terminal or of the kernel's process group is the front's business.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	debug.SetTraceback("single")
	crash := os.NewFile(crashFD, "crash report")
	if err := debug.SetCrashOutput(crash, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("setting crash output: %w", err)
	}
	crash.Close()

	conn := link.NewConn(os.NewFile(linkFD, "link"))
	p := &process{conn: conn, tape: &tape{fd: tapeFD, conn: conn}, runs: make(chan *link.Run, 1), jobs: make(chan func(), 64)}
	in, err := newInput(p)
	if err != nil {
		return err
	}
	p.input = in
	rt.SetWriter(1, func(run int64, b []byte) { p.tape.write(tapeStdout, run, b) })
	rt.SetWriter(2, func(run int64, b []byte) { p.tape.write(tapeStderr, run, b) })
	rt.OnGoroutinePanic(p.goroutinePanicked)
	display.SetSink(sink{p})
	if err := conn.Send(link.KindReady, link.Ready{PID: os.Getpid(), GoVersion: runtime.Version(), Native: registry.loader != nil}); err != nil {
		return err
	}
	go p.work()
	return p.receive()
}

// receive serves the front's frames until it goes away.
func (p *process) receive() error {
	for {
		kind, body, err := p.conn.Receive()
		if err != nil { // the front is gone, and with it every use of this process and its children
			if syscall.Getpgrp() == os.Getpid() {
				syscall.Kill(0, syscall.SIGKILL)
			}
			return nil
		}
		switch kind {
		case link.KindRun:
			err = decode(body, func(r *link.Run) { p.runs <- r })
		case link.KindInterrupt:
			err = decode(body, p.interrupt)
		case link.KindInputReply:
			err = decode(body, p.input.answer)
		case link.KindStack:
			err = decode(body, func(m *link.Stack) { go p.sendStack(m) })
		case link.KindVars:
			err = decode(body, func(m *link.Vars) { p.jobs <- func() { p.sendVars(m) } })
		case link.KindRecord:
			err = decode(body, func(m *link.Record) { p.jobs <- func() { p.record(m) } })
		case link.KindComm:
			err = decode(body, p.comm)
		case link.KindExit:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// work serves runs, and jobs between them, one at a time.
func (p *process) work() {
	for {
		select {
		case r := <-p.runs:
			p.run(r)
		case f := <-p.jobs:
			f()
		}
	}
}

func decode[T any](body []byte, use func(*T)) error {
	m := new(T)
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("decoding %T: %w", *m, err)
	}
	use(m)
	return nil
}

// comm answers a comm message. Nothing in the session process opens comms yet, so every one is closed.
func (p *process) comm(m *link.Comm) {
	if m.Op != "close" {
		p.tape.send(link.KindComm, link.Comm{Op: "close", ID: m.ID})
	}
}
