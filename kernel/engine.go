package kernel

import (
	"context"
	"encoding/json"

	"github.com/gander-go/gander/kernel/cell"
)

// Engine is what the kernel needs of the language behind it. Kernel calls Execute for one cell at a time; every other
// method may be called at any time, also while a cell runs.
type Engine interface {
	// Execute runs c and returns when it has ended and all its output has been handed to out. Cancelling ctx is an
	// interrupt: Execute still returns a Result, whose Err says so.
	Execute(ctx context.Context, c *cell.Cell, out cell.Output, in cell.Input) *cell.Result

	// Expression evaluates one of the user expressions of an execute request.
	Expression(ctx context.Context, expr string) (cell.Bundle, *cell.UserError)

	// Complete answers for the byte offset cursor in code.
	Complete(ctx context.Context, code string, cursor int) cell.Completion

	// Inspect describes what is at the byte offset cursor in code; nil when there is nothing to say.
	Inspect(ctx context.Context, code string, cursor int, detail int) *cell.Bundle

	// IsComplete judges code by its syntax alone.
	IsComplete(code string) cell.Completeness

	// Comm hands over a comm message from the front end: op is "open", "msg" or "close". It reports whether the comm
	// is known; the kernel closes unknown ones.
	Comm(op, id, target string, data, metadata json.RawMessage, buffers [][]byte) bool

	// Background sets where output goes that belongs to no running cell.
	Background(out cell.Output)

	// Info describes the language for kernel_info.
	Info() LanguageInfo

	// Shutdown ends what the engine started. It is idempotent.
	Shutdown(ctx context.Context)
}

// LanguageInfo is what kernel_info says about the language.
type LanguageInfo struct {
	GoVersion string // "1.26.8"
	Banner    string
}
