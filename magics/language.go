package magics

import (
	"context"
	"encoding/json"

	"github.com/gander-go/gander/kernel"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/trace"
)

// Language is what magics need of Go: the evaluator and its session. kernel/eval and kernel/session provide it; the
// composition root joins them.
type Language interface {
	// Run runs Go code as (part of) cell c. line is the line of the cell on which code starts; positions in errors are
	// those of the cell.
	Run(ctx context.Context, c *cell.Cell, code string, line int, o RunOptions, out cell.Output, in cell.Input) (*cell.Result, Usage)
	// Check reports what is wrong with code, without running it.
	Check(c *cell.Cell, code string, line int) *cell.UserError

	Expression(ctx context.Context, expr string) (cell.Bundle, *cell.UserError)
	Complete(ctx context.Context, code string, cursor int) cell.Completion
	Inspect(ctx context.Context, code string, cursor int, detail int) *cell.Bundle
	IsComplete(code string) cell.Completeness
	Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) bool
	Background(out cell.Output)
	// InterruptAgain is a second interrupt of the same run: what cannot be stopped is ended with its process.
	InterruptAgain()
	Info() kernel.LanguageInfo
	Shutdown(ctx context.Context)

	// Get adds a module to the session's; progress is told what the go command is doing.
	Get(ctx context.Context, spec string, progress func(string)) error
	// Engine returns the engine mode: "auto", "native" or "interp"; SetEngine sets it.
	Engine() string
	SetEngine(mode string) error
	// Vars lists the session's variables with short forms of their values.
	Vars(ctx context.Context) ([]Variable, error)
	// Reset forgets all state and starts a new session process.
	Reset(ctx context.Context) error

	// StartRecording and StopRecording drive the profiler of the session process. Options are profiler.Options as JSON.
	StartRecording(ctx context.Context, options json.RawMessage) error
	StopRecording(ctx context.Context) (*trace.Trace, error)
}

// RunOptions say how Go code runs.
type RunOptions struct {
	Engine     string // "native" or "interp" for this run; empty for the session's mode
	Instrument bool   // record the calls that the code makes
	TopLevel   bool   // of those only the calls of the cell's own statements
	Quiet      bool   // show no value
	Before     func() // called when the code is built, right before it runs; may be nil
}

// Usage is what a run cost in the session process.
type Usage struct {
	Wall   int64 // ns, without checking and building
	CPU    int64 // ns, user and system
	System int64 // of that the system time
	Build  int64 // ns spent on checking and building
	Bytes  int64 // allocated
	Allocs int64 // objects allocated
	Ran    bool  // the code was run at all
}

// Variable is a session variable.
type Variable struct {
	Name, Type, Value string
	Bytes             int64 // an estimate of what it holds
}
