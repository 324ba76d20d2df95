package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// Runner is the session process as the evaluator sees it; *session.Session is one.
type Runner interface {
	// Run runs one unit. Cancelling ctx interrupts it; the Done then says so. An error means that it was not run.
	Run(ctx context.Context, r link.Run, out cell.Output, in cell.Input) (*link.Done, error)
	Vars(ctx context.Context, names ...string) ([]link.VarValue, error)
	// Generation increases whenever the state of the process was lost.
	Generation() int
	// Restart replaces the process.
	Restart(ctx context.Context) error
}

// Packages are what cells can import; *mods.Modules is one.
type Packages interface {
	check.Packages
	Get(ctx context.Context, what string, progress func(line string)) error
	// Changed returns local packages that have changed on disk, each change once; imports yield the old ones until Adopt.
	Changed() []string
	Adopt()
	// Local returns the local packages that cells have imported.
	Local() []string
	// IsLocal reports whether a source file belongs to the user, not to a dependency.
	IsLocal(file string) bool
}

// Config joins an Evaluator together.
type Config struct {
	Runner   Runner
	Packages Packages
	Native   Engine // nil: cells cannot be compiled, NoNative says why
	Interp   Engine // nil: there is no interpreter
	NoNative string // e.g. "compiling cells needs the go command, which was not found"
	// Preimport are packages that cells have without importing them.
	Preimport []string
}

// Evaluator runs cells in one session. Run and what changes the session are for one goroutine at a time; the questions
// (Complete, Inspect, IsComplete, Vars) may be asked at any time.
type Evaluator struct {
	cfg     Config
	session *check.Session

	// run is held while a cell is checked, built and run.
	run    sync.Mutex
	loaded map[string]bool // local packages that the session process has loaded; guarded by run
	revert []string        // names that the last run left without values; guarded by run

	// mu guards what follows.
	mu         sync.Mutex
	mode       string
	generation int
	codes      map[int]string // cells by number, for excerpts
	busy       bool
	last       int // number of the last cell
}

// Modes of choosing an engine.
const (
	Auto   = "auto"
	Native = "native"
	Interp = "interp"
)

// New makes an evaluator.
func New(cfg Config) *Evaluator {
	e := &Evaluator{cfg: cfg, session: check.New(cfg.Packages), mode: Auto, codes: map[int]string{}, loaded: map[string]bool{}}
	e.generation = cfg.Runner.Generation()
	return e
}

// Warm does what makes the first cell fast. It returns when it is done.
func (e *Evaluator) Warm() { e.preimport() }

func (e *Evaluator) preimport() {
	if len(e.cfg.Preimport) > 0 {
		e.session.Preimport(e.cfg.Preimport...)
	}
}

// RunOptions say how code runs.
type RunOptions struct {
	Engine string // Native or Interp for this run; empty for the evaluator's mode
	// Before is called when the code has been checked and built, right before it runs. It may be nil.
	Before func()
	check.BuildOptions
}

// Usage is what a run cost.
type Usage struct {
	Wall    int64 // ns in the session process
	CPU     int64 // ns, user and system, in the session process
	System  int64 // of that the system time
	Build   int64 // ns spent on checking and building
	Bytes   int64 // allocated in the session process
	Objects int64 // likewise
	Ran     bool  // the code was run at all
	Engine  link.Engine
}

// Engine returns the mode in which engines are chosen.
func (e *Evaluator) Engine() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mode
}

// SetEngine sets it: Auto, Native or Interp.
func (e *Evaluator) SetEngine(mode string) error {
	switch {
	case mode != Auto && mode != Native && mode != Interp:
		return fmt.Errorf("unknown engine %q: there are auto, native and interp", mode)
	case mode == Native && e.cfg.Native == nil:
		return errors.New(e.noNative())
	case mode == Interp && e.cfg.Interp == nil:
		return errors.New("there is no interpreter in this session")
	}
	e.mu.Lock()
	e.mode = mode
	e.mu.Unlock()
	return nil
}

func (e *Evaluator) noNative() string {
	if e.cfg.NoNative != "" {
		return e.cfg.NoNative
	}
	return "cells cannot be compiled on this machine"
}

// Execute runs a cell.
func (e *Evaluator) Execute(ctx context.Context, c *cell.Cell, out cell.Output, in cell.Input) *cell.Result {
	r, _ := e.Run(ctx, c, c.Code, 1, RunOptions{}, out, in)
	return r
}

// Run runs code as part of cell c, in which it starts on the given line. Positions are those of the cell.
func (e *Evaluator) Run(ctx context.Context, c *cell.Cell, code string, line int, o RunOptions, out cell.Output, in cell.Input) (*cell.Result, Usage) {
	e.run.Lock()
	defer e.run.Unlock()
	e.setBusy(true)
	defer e.setBusy(false)
	if r, ok := e.cfg.Runner.(interface{ TellReset(out cell.Output) }); ok {
		r.TellReset(out) // also when the cell fails to check, because of what was lost
	}
	e.mu.Lock()
	e.codes[c.N], e.last = c.Code, c.N
	e.mu.Unlock()
	out = translated{out, e}
	for again := false; ; again = true {
		r, u, lost := e.once(ctx, c, code, line, o, out, in)
		if !lost || again {
			return r, u
		}
	}
}

// once is one try of Run. lost says that the cell was made for a session process that ended before it could run.
func (e *Evaluator) once(ctx context.Context, c *cell.Cell, code string, line int, o RunOptions, out cell.Output, in cell.Input) (_ *cell.Result, u Usage, lost bool) {
	start := time.Now()
	checked, ue := e.prepare(ctx, c.N, atLine(code, line), out)
	if ctx.Err() != nil {
		return &cell.Result{Err: interrupted()}, u, false
	}
	if ue != nil {
		return &cell.Result{Err: ue}, u, false
	}
	if isIdle(checked) {
		e.session.Commit(checked, -1)
		u.Build = int64(time.Since(start))
		return &cell.Result{}, u, false
	}
	b, ue := e.build(ctx, checked, o)
	u.Build = int64(time.Since(start))
	if ue != nil {
		return &cell.Result{Err: ue}, u, false
	}
	e.tellNotes(out)
	u.Engine = b.unit.Engine
	r := link.Run{Cell: c.N, Unit: b.unit, AllowStdin: c.AllowStdin, Quiet: o.Quiet || checked.Show == nil, Generation: e.generation,
		Revert: e.takeRevert(), Vars: numbers(checked)}
	if o.Before != nil {
		o.Before()
	}
	done, err := e.cfg.Runner.Run(ctx, r, out, in)
	if d, ok := e.cfg.Native.(Discarder); ok && err == nil && done.Err != nil && isUnopened(b, done.Err) {
		d.Discard(b.unit) // its tables are built anew when they are needed again
	}
	if err == nil && done.Err != nil && done.Err.Kind == "load" && e.compiles(b, o) {
		// The interpreter took exception to what its engine made of the cell. Nothing has run.
		e.revert = newNames(checked)
		if b, ue = e.build(ctx, checked, RunOptions{Engine: Native, BuildOptions: o.BuildOptions}); ue != nil {
			return &cell.Result{Err: ue}, u, false
		}
		u.Build, u.Engine, r.Unit, r.Revert = int64(time.Since(start)), b.unit.Engine, b.unit, e.takeRevert()
		done, err = e.cfg.Runner.Run(ctx, r, out, in)
	}
	if d, ok := b.engine.(Discarder); ok && err == nil && done.Err != nil && done.Err.Kind == "load" && d.Discard(b.unit) {
		e.revert = newNames(checked)
		if b, ue = e.build(ctx, checked, RunOptions{Engine: Native, BuildOptions: o.BuildOptions}); ue != nil {
			return &cell.Result{Err: ue}, u, false
		}
		u.Build, r.Unit, r.Revert = int64(time.Since(start)), b.unit, e.takeRevert()
		done, err = e.cfg.Runner.Run(ctx, r, out, in)
	}
	if err != nil {
		e.revert = r.Revert
		if ctx.Err() != nil {
			return &cell.Result{Err: interrupted()}, u, false
		}
		lost = e.resetIfLost()
		return &cell.Result{Err: e.plainError("SessionError", err.Error())}, u, lost
	}
	if len(b.unit.Plugins) > 0 {
		e.noteLoaded(checked)
	}
	u.Ran, u.Wall, u.CPU, u.System, u.Bytes, u.Objects = true, done.Wall, done.CPU, done.System, done.Allocs, done.Mallocs
	return e.finish(checked, b, done), u, false
}

// isUnopened reports whether an interpreted cell could not begin because a plugin of its tables cannot be opened.
func isUnopened(b *built, f *link.Failure) bool {
	return f.Kind == "load" && b.unit.Engine == link.EngineInterp && len(b.unit.Plugins) > 0 && strings.HasPrefix(f.Message, "opening compiled cell")
}

// compiles reports whether a cell that was to be interpreted may be compiled instead.
func (e *Evaluator) compiles(b *built, o RunOptions) bool {
	return b.unit.Engine == link.EngineInterp && e.cfg.Native != nil && (o.Engine == Auto || o.Engine == "" && e.Engine() == Auto)
}

// atLine puts code on the line of the cell on which it starts.
func atLine(code string, line int) string { return strings.Repeat("\n", max(line-1, 0)) + code }

// prepare checks code and tells the warnings.
func (e *Evaluator) prepare(ctx context.Context, n int, code string, out cell.Output) (*check.Checked, *cell.UserError) {
	e.resetIfLost()
	e.refresh(out)
	c := e.session.CheckContext(ctx, n, code)
	if len(c.Errors) > 0 {
		return nil, e.compileError(c.Errors)
	}
	var told []string
	for _, w := range c.Warnings {
		if t := fmt.Sprintf("%s: warning: %s\n", at(w.Pos), w.Message); !slices.Contains(told, t) {
			told = append(told, t)
			out.Stream(cell.Stderr, t)
		}
	}
	return c, nil
}

// isIdle reports whether there is nothing to build or to run.
func isIdle(c *check.Checked) bool {
	if len(c.Steps) > 0 || len(c.Rebound) > 0 {
		return false
	}
	for _, d := range c.Decls {
		if !d.Unchanged {
			return false
		}
	}
	for _, i := range c.Imports {
		if i.Name == "_" {
			return false
		}
	}
	return true
}

// finish commits what a run has defined and shapes its end.
func (e *Evaluator) finish(c *check.Checked, b *built, done *link.Done) *cell.Result {
	if done.Err == nil {
		b.commit()
		e.session.Commit(c, -1)
		if done.Value != nil {
			v := fromLink(done.Value)
			return &cell.Result{Value: &v}
		}
		return &cell.Result{}
	}
	stack := done.Err.Stack
	// Whichever engine ran the cell, the stack has frames of compiled functions.
	for _, eng := range []Engine{b.engine, e.cfg.Native} {
		if t, ok := eng.(Translator); ok {
			stack = t.Translate(stack)
		}
	}
	frames := e.frames(stack)
	switch {
	case e.resetIfLost():
	case done.Err.Kind == "load":
		e.revert = newNames(c)
	default:
		b.commit()
		e.revert = e.session.Commit(c, stepsDone(c, frames))
	}
	return &cell.Result{Err: e.runError(done.Err, frames)}
}

// resetIfLost forgets everything when the session process is not the one that it was, and reports whether it did.
func (e *Evaluator) resetIfLost() bool {
	g := e.cfg.Runner.Generation()
	e.mu.Lock()
	same := g == e.generation
	e.generation = g
	e.mu.Unlock()
	if same {
		return false
	}
	e.forget()
	return true
}

func (e *Evaluator) forget() {
	e.revert = nil
	e.session.Reset()
	if len(e.loaded) > 0 { // the new process may load them as they are now
		clear(e.loaded)
		e.cfg.Packages.Adopt()
		e.reload(nil)
	}
	for _, eng := range []Engine{e.cfg.Native, e.cfg.Interp} {
		if eng != nil {
			eng.Reset()
		}
	}
	e.preimport()
}

// Reset forgets all state and starts a new session process.
func (e *Evaluator) Reset(ctx context.Context) error {
	e.run.Lock()
	defer e.run.Unlock()
	if err := e.cfg.Runner.Restart(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	e.generation = e.cfg.Runner.Generation()
	e.mu.Unlock()
	e.forget()
	return nil
}

// Get adds a module to the session's.
func (e *Evaluator) Get(ctx context.Context, what string, progress func(line string)) error {
	if err := e.cfg.Packages.Get(ctx, what, progress); err != nil {
		return err
	}
	e.reload(nil)
	return nil
}

func (e *Evaluator) setBusy(b bool) {
	e.mu.Lock()
	e.busy = b
	e.mu.Unlock()
}

func (e *Evaluator) isBusy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.busy
}

func fromLink(l *link.Bundle) cell.Bundle {
	b := cell.Bundle{Data: map[string]any{}, Metadata: l.Metadata, DisplayID: l.DisplayID}
	for k, v := range l.Text {
		b.Data[k] = v
	}
	for k, v := range l.B64 {
		b.Data[k] = v
	}
	for k, v := range l.JSON {
		b.Data[k] = v
	}
	return b
}
