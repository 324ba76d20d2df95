// Package session is the front's side of the session process: building its program, starting it, running units in it,
// and replacing it when it dies. The kernel and `gander run` use it alike.
//
// It does not know what a unit means; kernel/eval makes units. Invariant: whatever happens to the session process, Run
// returns, and all that the process wrote before it died has been handed on.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
)

// Config says how a session is started.
type Config struct {
	// Workspace holds the built session program. Nil: Command is the program, and it only interprets.
	Workspace *Workspace
	Command   []string // e.g. {"/path/to/gander", "session"}
	Dir       string   // working directory of the user's code; the front's own when empty
	Env       []string // added to the front's own environment

	// Background gets output that belongs to no running unit; nil drops it. See Session.SetBackground.
	Background cell.Output
	// OnReset is told when a session process was replaced and its state lost, with the reason. It may be nil.
	OnReset func(reason string)
	// OnComm gets comm messages of user code. It may be nil.
	OnComm func(link.Comm)
	// Grace is how long an interrupt may take before the process is replaced; 2 s when zero.
	Grace time.Duration
}

// Session is a session process and its successors. Its methods are safe for concurrent use; runs are queued.
type Session struct{ cfg Config }

// ErrClosed is returned by methods of a closed session.
var ErrClosed = errors.New("session is closed")

// Start starts a session process and waits until it is ready.
func Start(ctx context.Context, cfg Config) (*Session, error) { panic("being written") }

// Run runs a unit and returns how it ended, when all its output has been handed to out. Cancelling ctx is an interrupt.
// The failure of the unit, the death of the process included (kinds "exit" and "died"), is in Done.Err; an error means
// that the unit could not be handed to a process at all. r.ID is set by Run.
func (s *Session) Run(ctx context.Context, r link.Run, out cell.Output, in cell.Input) (*link.Done, error) {
	panic("being written")
}

// Interrupt asks the running unit to stop. When that has no effect within the grace period, or on a second call, the
// process is replaced. Without a running unit it does nothing.
func (s *Session) Interrupt() { panic("being written") }

// Vars lists session variables (all when no names are given), with a short form of their values. It waits for a running
// unit to end.
func (s *Session) Vars(ctx context.Context, names ...string) ([]link.VarValue, error) {
	panic("being written")
}

// StartRecording starts the profiler in the session process with its options as JSON.
func (s *Session) StartRecording(ctx context.Context, options json.RawMessage) error {
	panic("being written")
}

// StopRecording stops the profiler and returns the trace in the file form of profiler/trace.
func (s *Session) StopRecording(ctx context.Context) ([]byte, error) { panic("being written") }

// Comm hands a comm message of the front end to user code.
func (s *Session) Comm(c link.Comm) error { panic("being written") }

// SetBackground sets where output goes that belongs to no running unit.
func (s *Session) SetBackground(out cell.Output) { panic("being written") }

// Generation counts session processes: it increases whenever state was lost.
func (s *Session) Generation() int { panic("being written") }

// Ready tells about the current session process.
func (s *Session) Ready() link.Ready { panic("being written") }

// Restart replaces the process; all state is lost, and no notice of that is shown.
func (s *Session) Restart(ctx context.Context) error { panic("being written") }

// Close ends the session process and everything that it started. It is idempotent.
func (s *Session) Close() error { panic("being written") }
