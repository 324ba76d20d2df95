package compose

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gander-go/gander/internal/version"
	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
	"github.com/gander-go/gander/magics"
)

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
