package profiler

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// Profile is a recording under way or complete. Its methods may be called from any goroutine.
type Profile struct {
	options Options
	started string // who or where, for the error of a second Start

	// steps serialises Start, Step and Stop; OnTraceReady runs under it.
	steps    sync.Mutex
	number   int    // of the current step
	action   Action // of the current step
	ended    bool
	span     record.Span  // of the current step
	cycle    *cycle       // what is being recorded, nil while nothing is
	acc      *accumulated // nil without AccEvents
	handling atomic.Int64 // goroutine that runs OnTraceReady, 0 for none
	stopping bool         // OnTraceReady called Stop

	// mu guards what the methods that read results need.
	mu       sync.Mutex
	step     int // number, for readers
	trace    *trace.Trace
	cycles   int
	warnings []trace.Problem
}

// current is the profile under way, nil when there is none.
var current atomic.Pointer[Profile]

// Start begins a profile. Only one can be under way: a second Start is an error until the first one's Stop. Sources that
// cannot start are no error: the trace's Problems name them.
func Start(o Options) (*Profile, error) {
	if err := o.Schedule.check(); err != nil {
		return nil, fmt.Errorf("starting profile: %w", err)
	}
	if o.SampleHz < 0 || o.MaxEvents < 0 {
		return nil, fmt.Errorf("starting profile: SampleHz (%d) and MaxEvents (%d) must not be negative", o.SampleHz, o.MaxEvents)
	}
	if o.Activities == 0 {
		o.Activities = present()
	}
	p := &Profile{options: o, trace: new(trace.Trace), started: "by " + o.Owner}
	if o.Owner == "" {
		p.started = callerOf()
	}
	p.steps.Lock()
	defer p.steps.Unlock()
	if !current.CompareAndSwap(nil, p) {
		other := "elsewhere"
		if q := current.Load(); q != nil {
			other = q.started
		}
		return nil, fmt.Errorf("starting profile: one is under way already, started %s; stop it first (spans and Step go to it)", other)
	}
	if o.ScheduleFunc == nil && !o.Schedule.none() && o.Schedule.Warmup == 0 {
		p.warn("schedule", "The schedule has no warmup: the first recorded step includes the cost of starting the sources.", "Set Warmup to 1.")
	}
	if missing := o.Activities &^ Supported(); missing != 0 {
		p.warn("source-missing", fmt.Sprintf("This process has no source for %s.", missing), "Import the package that records it.")
	}
	p.action = o.actionOf(0)
	if err := p.enter(ActionNone, p.action); err != nil {
		current.CompareAndSwap(p, nil)
		return nil, fmt.Errorf("starting profile: %w", err)
	}
	p.beginStep()
	return p, nil
}

// callerOf says where the function that calls it was called.
func callerOf() string {
	pc, file, line, ok := runtime.Caller(2)
	if !ok {
		return "elsewhere"
	}
	if f := runtime.FuncForPC(pc); f != nil && strings.HasPrefix(f.Name(), "reflect.") { // by an interpreter
		return "by a cell"
	}
	return fmt.Sprintf("at %s:%d", file, line)
}

// Step ends the current step and begins the next one: it is to be called at the end of each iteration of the loop that
// the schedule divides.
func (p *Profile) Step() {
	if p.handling.Load() == record.Goroutine() {
		p.warn("schedule", "Step was called by OnTraceReady and ignored.", "Call Step in the loop.")
		return
	}
	p.steps.Lock()
	defer p.steps.Unlock()
	if p.ended {
		p.warn("schedule", "Step was called after Stop and ignored.", "Call Stop after the loop.")
		return
	}
	p.endStep()
	from := p.action
	p.number++
	p.action = p.options.actionOf(p.number)
	p.mu.Lock()
	p.step = p.number
	p.mu.Unlock()
	// The step's span is opened also when OnTraceReady panics, so that a loop which recovers goes on recording.
	defer func() {
		if p.stopping {
			p.stopping = false
			p.finish()
			return
		}
		p.beginStep()
	}()
	if err := p.enter(from, p.action); err != nil {
		p.warn("recording", "A step could not be recorded: "+err.Error()+".", "")
	}
}

// Stop ends the profile. What was recorded of an active step that is not complete is kept and handed to OnTraceReady.
// Calling it again does nothing.
func (p *Profile) Stop() {
	if p.handling.Load() == record.Goroutine() {
		p.stopping = true
		return
	}
	p.steps.Lock()
	defer p.steps.Unlock()
	if p.ended {
		return
	}
	p.endStep()
	p.finish()
}

// finish leaves the current action for good.
func (p *Profile) finish() {
	p.ended = true
	from := p.action
	p.action = ActionNone
	defer current.CompareAndSwap(p, nil)
	p.leave(from)
}

// Step steps the profile that is under way, and does nothing when there is none. In a %%profile cell it steps the
// profile around the cell.
func Step() {
	if p := current.Load(); p != nil {
		p.Step()
	}
}

// Current returns the profile that is under way, or nil.
func Current() *Profile { return current.Load() }

// StepNum is the number of the current step, counted from 0. In OnTraceReady it is already that of the step to come: a
// cycle whose last step was 4 is handed over with 5.
func (p *Profile) StepNum() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.step
}

// Cycles is how many cycles are complete.
func (p *Profile) Cycles() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cycles
}

// Trace returns what the last complete cycle recorded (all of them, with AccEvents): sorted, bound and valid. Before the
// first one it is empty. The caller must not change it.
func (p *Profile) Trace() *trace.Trace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trace
}

// Options returns what the profile was started with, with Activities filled in.
func (p *Profile) Options() Options { return p.options }

// Warnings lists what was wrong with the schedule and what could not be recorded so far. The trace of a cycle has those
// that were known at its end among its Problems.
func (p *Profile) Warnings() []trace.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.warnings)
}

func (p *Profile) warn(kind, text, remedy string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.warnings {
		if w := &p.warnings[i]; w.Kind == kind && w.Text == text {
			w.Count++
			return
		}
	}
	p.warnings = append(p.warnings, trace.Problem{Kind: kind, Count: 1, Text: text, Remedy: remedy})
}

// beginStep opens the span of the current step. Without a schedule there are no steps to show until Step is called.
func (p *Profile) beginStep() {
	if p.cycle == nil || !p.cycle.open || p.options.unscheduled() {
		return
	}
	p.span = p.cycle.recorder.BeginStep(p.number)
	p.cycle.beginStep()
}

func (p *Profile) endStep() {
	if p.cycle != nil {
		p.cycle.recorder.EndStep(p.span)
		p.cycle.endStep(p.number)
	}
	p.span = record.Span{}
}
