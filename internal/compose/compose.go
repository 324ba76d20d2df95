// Package compose joins the parts of Gander that know nothing of each other: the evaluator, its engines, the session process
// and the magics. The kernel, `gander run` and tests get a working Go from here.
//
// It decides nothing but what is joined to what. Its one invariant: New returns at once, whatever has to be built first.
package compose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/gander-go/gander/internal/version"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/eval/interp"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/eval/native"
	"github.com/gander-go/gander/kernel/session"
	symbols "github.com/gander-go/gander/kernel/session/worker/interp"
	"github.com/gander-go/gander/kernel/session/worker/interp/std"
	"github.com/gander-go/gander/magics"
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
