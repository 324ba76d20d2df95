// Package compose joins the parts of Gander that know nothing of each other: the evaluator, its engines, the session process
// and the magics. The kernel, `gander run` and tests get a working Go from here.
//
// It decides nothing but what is joined to what. Its one invariant: New returns at once, whatever has to be built first.
package compose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gander-go/gander/internal/bug"
	"github.com/gander-go/gander/internal/version"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/interp"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/eval/native"
	"github.com/gander-go/gander/kernel/session"
	"github.com/gander-go/gander/kernel/session/link"
	symbols "github.com/gander-go/gander/kernel/session/worker/interp"
	"github.com/gander-go/gander/kernel/session/worker/interp/std"
	"github.com/gander-go/gander/magics"
	"github.com/gander-go/gander/profiler/cellstack"
	"github.com/gander-go/gander/profiler/gotrace"
	"github.com/gander-go/gander/profiler/trace"
)

// New joins the evaluator, its session process and the magics for a notebook in dir. It returns at once: the
// session starts in the background, and what needs it waits.
func New(dir string, log *slog.Logger) *magics.Engine {
	l := NewLanguage(dir, log)
	go func() {
		if l.Start() == nil {
			l.Warm()
		}
	}()
	return magics.New(l, dir, version.Number)
}

// NewLanguage makes Go without magics, for a notebook in dir. Start must be called once.
func NewLanguage(dir string, log *slog.Logger) *Language {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &Language{dir: dir, log: log, done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Language implements magics.Language.
type Language struct {
	dir    string
	log    *slog.Logger
	ctx    context.Context // ends with Shutdown
	cancel context.CancelFunc
	done   chan struct{} // closed when the start has succeeded or failed

	// Set before done is closed.
	err      error
	session  *session.Session
	eval     *eval.Evaluator
	native   *native.Engine
	packages *mods.Modules
	temp     string

	// mu guards what follows.
	mu         sync.Mutex
	progress   string // what the start is doing
	background cell.Output
	shutdown   sync.Once
}

// preimported are the packages that cells have without importing them.
var preimported = []string{"github.com/gander-go/gander/profiler", "github.com/gander-go/gander/display"}

// Start starts the session. What needs it waits until then.
func (l *Language) Start() error {
	defer close(l.done)
	if l.err = l.begin(); l.err != nil {
		l.log.Error("starting the session", "error", l.err)
	}
	return l.err
}

// Evaluator is what runs cells; nil before Start has succeeded.
func (l *Language) Evaluator() *eval.Evaluator { return l.eval }

func (l *Language) begin() error {
	ws, err := session.Prepare(l.ctx, session.BuildConfig{Progress: l.setProgress})
	noNative := ""
	var none *session.NoToolchain
	switch {
	case errors.As(err, &none):
		noNative = none.Error() + "; 'gander doctor' tells how to get it"
	case err != nil && l.ctx.Err() == nil:
		noNative = "cells cannot be compiled: " + err.Error()
	case err != nil:
		return err
	}
	l.setProgress("starting the session process", 0, 0)
	if l.temp, err = os.MkdirTemp("", "gander-session-"); err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	cfg := session.Config{Workspace: ws, Dir: l.dir, Background: (*backgroundOutput)(l), OnComm: l.comm}
	if ws == nil {
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("starting the session: %w", err)
		}
		cfg.Command = []string{exe, "session"}
	}
	if l.session, err = session.Start(l.ctx, cfg); err != nil {
		return err
	}
	ec := eval.Config{Runner: l.session, NoNative: noNative, Preimport: preimported}
	options := interp.Options{HotLoops: ws == nil}
	if ws == nil {
		options.Carried = symbols.Paths() // this very program is the session process
	}
	mc := mods.Config{Dir: filepath.Join(l.temp, "module"), Notebook: l.dir, Carried: options.Carried, Symbols: symbols.Symbols, Generic: std.Generic}
	if ws != nil {
		mc.Go, mc.GOROOT, mc.Env, mc.Base = ws.Go, ws.GOROOT, ws.Env, ws.Dir
		mc.Flags = append(append([]string(nil), ws.Flags...), "-buildmode=plugin")
	}
	packages, err := mods.New(l.ctx, mc)
	if err != nil {
		return err
	}
	ec.Packages = packages
	if ws != nil {
		l.native, err = native.New(native.Options{Workspace: ws, Dir: packages.Dir(), CacheDir: ws.Cells, Note: ws.Note, Log: l.log})
		if err != nil {
			return err
		}
		ec.Native, options.Tables = l.native, l.native
	}
	ec.Interp = interp.New(options)
	l.eval = eval.New(ec)
	l.packages = packages
	l.eval.Warm()
	return nil
}

// Warm has built what the first cells need. It returns when that is done.
func (l *Language) Warm() {
	l.packages.Warm(l.ctx)
	if l.native == nil {
		return
	}
	if err := l.native.Warm(l.ctx, preimported...); err != nil && l.ctx.Err() == nil {
		l.log.Warn("warming the compiler", "error", err)
	}
}

// BuildStandard compiles the standard library as cells use it, so that no first import waits for that. See Modules.BuildStandard.
func (l *Language) BuildStandard() error { return l.packages.BuildStandard(l.ctx) }

func (l *Language) setProgress(what string, done, total int) {
	if total > 0 {
		what = fmt.Sprintf("%s (%d of %d)", what, done, total)
	}
	l.mu.Lock()
	l.progress = what
	l.mu.Unlock()
}

// wait waits for the start. While it takes long, out shows what it is doing; out may be nil.
func (l *Language) wait(ctx context.Context, out cell.Output) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	shown, id := "", fmt.Sprintf("gander-start-%p", l)
	for {
		select {
		case <-l.done:
			if shown != "" {
				out.Clear(false) // nothing else has been shown yet
			}
			return l.err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			l.mu.Lock()
			what := l.progress
			l.mu.Unlock()
			if out == nil || what == shown || what == "" {
				continue
			}
			b := cell.Bundle{DisplayID: id, Data: map[string]any{"text/plain": "Preparing to compile cells, once for this version of Go: " + what}}
			if shown == "" {
				out.Display(b)
			} else {
				out.Update(b)
			}
			shown = what
		}
	}
}

// ready reports whether the start has succeeded, without waiting longer than d.
func (l *Language) ready(d time.Duration) bool {
	select {
	case <-l.done:
	case <-time.After(d):
		return false
	}
	return l.err == nil
}

func startFailed(err error) *cell.UserError {
	name := "SessionError"
	if errors.Is(err, context.Canceled) {
		name, err = "Interrupted", errors.New("interrupted")
	}
	return &cell.UserError{Name: name, Message: err.Error(), Text: []string{"\x1b[31m" + name + "\x1b[0m: " + err.Error()}}
}

// Run implements magics.Language.
func (l *Language) Run(ctx context.Context, c *cell.Cell, code string, line int, o magics.RunOptions, out cell.Output, in cell.Input) (*cell.Result, magics.Usage) {
	if err := l.wait(ctx, out); err != nil {
		return &cell.Result{Err: startFailed(err)}, magics.Usage{}
	}
	r, u := l.eval.Run(ctx, c, code, line, eval.RunOptions{
		Engine: o.Engine, Before: o.Before, BuildOptions: check.BuildOptions{Instrument: o.Instrument, Top: o.TopLevel, Quiet: o.Quiet},
	}, out, in)
	return r, magics.Usage{Wall: u.Wall, CPU: u.CPU, System: u.System, Build: u.Build, Bytes: u.Bytes, Allocs: u.Objects, Ran: u.Ran}
}

// Check implements magics.Language.
func (l *Language) Check(c *cell.Cell, code string, line int) *cell.UserError {
	if err := l.wait(l.ctx, nil); err != nil {
		return startFailed(err)
	}
	return l.eval.Check(c, code, line)
}

// Expression implements magics.Language.
func (l *Language) Expression(ctx context.Context, expr string) (cell.Bundle, *cell.UserError) {
	if err := l.wait(ctx, nil); err != nil {
		return cell.Bundle{}, startFailed(err)
	}
	return l.eval.Expression(ctx, expr)
}

// patience is how long a question of the front end waits for the start: JupyterLab gives up after a second.
const patience = 800 * time.Millisecond

// Complete implements magics.Language.
func (l *Language) Complete(ctx context.Context, code string, cursor int) cell.Completion {
	if !l.ready(patience) {
		return cell.Completion{Start: cursor, End: cursor}
	}
	return l.eval.Complete(ctx, code, cursor)
}

// Inspect implements magics.Language.
func (l *Language) Inspect(ctx context.Context, code string, cursor int, detail int) *cell.Bundle {
	if !l.ready(10 * time.Second) {
		return nil
	}
	return l.eval.Inspect(ctx, code, cursor, detail)
}

// IsComplete implements magics.Language.
func (l *Language) IsComplete(code string) cell.Completeness { return check.IsComplete(code) }

// Comm implements magics.Language.
func (l *Language) Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) bool {
	if !l.ready(0) {
		return false
	}
	return l.session.Comm(link.Comm{Op: op, ID: id, Target: target, Data: data, Meta: metadata, Buffers: buffers}) == nil && op != "open"
}

// comm hands a comm message of user code to the front end.
func (l *Language) comm(c link.Comm) {
	out, ok := (*backgroundOutput)(l).to().(kernel.CommOutput)
	if !ok {
		return // `gander run` has nobody to talk to
	}
	out.Comm(c.Op, c.ID, c.Target, c.Data, c.Meta, c.Buffers)
}

// InterruptAgain implements magics.Language.
func (l *Language) InterruptAgain() {
	if l.ready(0) {
		l.session.Interrupt()
	}
}

// Background implements magics.Language.
func (l *Language) Background(out cell.Output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.background = out
}

// Info implements magics.Language.
func (l *Language) Info() kernel.LanguageInfo {
	v := strings.TrimPrefix(runtime.Version(), "go")
	return kernel.LanguageInfo{GoVersion: v, Banner: "Gander " + version.Number + ": Go " + v + " with a profiler inside. %help explains, name? describes a name."}
}

// startEnd is how long Shutdown waits for a start that is under way.
const startEnd = 100 * time.Millisecond

// Shutdown implements magics.Language.
func (l *Language) Shutdown(ctx context.Context) {
	l.shutdown.Do(func() {
		l.cancel()
		select {
		case <-l.done:
		case <-ctx.Done():
			return
		case <-time.After(startEnd):
			// The session process ends with this one; what the start has made so far is left to the next clean-up.
			return
		}
		if l.session != nil {
			l.session.Close()
		}
		if l.native != nil {
			l.native.Close()
		}
		if l.temp != "" {
			os.RemoveAll(l.temp)
		}
	})
}

// Get implements magics.Language.
func (l *Language) Get(ctx context.Context, spec string, progress func(string)) error {
	if err := l.wait(ctx, nil); err != nil {
		return err
	}
	return l.eval.Get(ctx, spec, progress)
}

// Engine implements magics.Language.
func (l *Language) Engine() string {
	if l.wait(l.ctx, nil) != nil {
		return ""
	}
	return l.eval.Engine()
}

// SetEngine implements magics.Language.
func (l *Language) SetEngine(mode string) error {
	if err := l.wait(l.ctx, nil); err != nil {
		return err
	}
	return l.eval.SetEngine(mode)
}

// Vars implements magics.Language.
func (l *Language) Vars(ctx context.Context) ([]magics.Variable, error) {
	if err := l.wait(ctx, nil); err != nil {
		return nil, err
	}
	list, err := l.eval.Vars(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]magics.Variable, len(list))
	for i, v := range list {
		out[i] = magics.Variable{Name: v.Name, Type: v.Type, Value: v.Value, Bytes: v.Bytes}
	}
	return out, nil
}

// Reset implements magics.Language.
func (l *Language) Reset(ctx context.Context) error {
	if err := l.wait(ctx, nil); err != nil {
		return err
	}
	return l.eval.Reset(ctx)
}

// StartRecording implements magics.Language.
func (l *Language) StartRecording(ctx context.Context, options json.RawMessage) error {
	if err := l.wait(ctx, nil); err != nil {
		return err
	}
	return l.session.StartRecording(ctx, options)
}

// StopRecording implements magics.Language.
func (l *Language) StopRecording(ctx context.Context) (*trace.Trace, error) {
	b, err := l.session.StopRecording(ctx)
	if err != nil {
		return nil, err
	}
	t, err := trace.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			cellstack.Plain(t, l.eval.Translate)
		}
	}()
	if len(t.Attachments) == 0 {
		return t, nil
	}
	gotrace.MergeAttachments(t, gotrace.Options{})
	if invalid := t.Validate(); invalid != nil {
		bug.Reportf("merging an execution trace: %v", invalid)
		if t, err = trace.Decode(bytes.NewReader(b)); err == nil {
			t.Attachments = nil
			t.Problem("exec-trace", 1, "The execution trace could not be used: "+invalid.Error()+".", "Please report this.")
		}
	}
	return t, err
}

// backgroundOutput hands on what belongs to no running cell, as soon as somebody wants it.
type backgroundOutput Language

func (b *backgroundOutput) to() cell.Output {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.background
}

// Stream implements cell.Output.
func (b *backgroundOutput) Stream(name cell.StreamName, text string) {
	if out := b.to(); out != nil {
		select {
		case <-b.done:
			if b.err == nil {
				text = b.eval.Translate(text)
			}
		default:
		}
		out.Stream(name, text)
	}
}

// Display implements cell.Output.
func (b *backgroundOutput) Display(x cell.Bundle) {
	if out := b.to(); out != nil {
		out.Display(x)
	}
}

// Update implements cell.Output.
func (b *backgroundOutput) Update(x cell.Bundle) {
	if out := b.to(); out != nil {
		out.Update(x)
	}
}

// Clear implements cell.Output.
func (b *backgroundOutput) Clear(wait bool) {
	if out := b.to(); out != nil {
		out.Clear(wait)
	}
}
