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
	"fmt"
	"strings"
	"sync"
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
	// OnReset is told when a session process has died or was replaced and its state is lost, with the reason, before
	// the Run that it interrupted returns. It must not call the session. It may be nil.
	OnReset func(reason string)
	// OnComm gets comm messages of user code. It must not block. It may be nil.
	OnComm func(link.Comm)
	// Grace is how long an interrupt may take before the process is replaced; 2 s when zero.
	Grace time.Duration
}

// Session is a session process and its successors. Its methods are safe for concurrent use; runs are queued.
type Session struct {
	cfg   Config
	turn  chan struct{} // holds one token: the right to run a unit, ask for variables, or record
	ended context.Context
	end   context.CancelFunc

	// mu guards what follows.
	mu         sync.Mutex
	proc       *process // nil while there is none
	starting   *start
	generation int
	notice     string // the reason of a reset that no run has told yet
	last       int64  // id of the last run
	current    *run
	background cell.Output
	ready      link.Ready
	closed     bool
}

// start is the start of a process in progress; proc and err are set when done is closed.
type start struct {
	done chan struct{}
	proc *process
	err  error
}

// ErrClosed is returned by methods of a closed session.
var ErrClosed = errors.New("the session is closed")

// ErrReset is returned by Run for a unit that was made for an earlier generation.
var ErrReset = errors.New("the session was restarted meanwhile")

// Start starts a session process and waits until it is ready.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
	}
	s := &Session{cfg: cfg, turn: make(chan struct{}, 1), generation: 1, background: cfg.Background}
	s.ended, s.end = context.WithCancel(context.Background())
	s.turn <- struct{}{}
	if _, err := s.process(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// process returns the running process, starting one when there is none.
func (s *Session) process(ctx context.Context) (*process, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	if p := s.proc; p != nil {
		s.mu.Unlock()
		return p, nil
	}
	st := s.startLocked()
	s.mu.Unlock()
	select {
	case <-st.done:
		return st.proc, st.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// startLocked starts a process in the background, unless one is being started. s.mu is held.
func (s *Session) startLocked() *start {
	if s.starting != nil {
		return s.starting
	}
	st := &start{done: make(chan struct{})}
	s.starting = st
	go func() {
		p, err := startProcess(s.ended, &s.cfg, s.backgroundOutput, s.cfg.OnComm)
		s.mu.Lock()
		s.starting = nil
		if err == nil && s.closed {
			go p.stop()
			p, err = nil, ErrClosed
		}
		st.proc, st.err, s.proc = p, err, p
		if p != nil {
			s.ready = p.ready
			go s.watch(p)
		}
		s.mu.Unlock()
		close(st.done)
	}()
	return st
}

// watch takes notice of the end of p and starts its successor. A process that dies at once is not replaced before it is
// needed again.
func (s *Session) watch(p *process) {
	<-p.ended
	defer close(p.reaped)
	s.mu.Lock()
	if s.proc != p {
		s.mu.Unlock()
		return
	}
	s.proc = nil
	s.generation++
	f := p.describe()
	reason := f.Message
	s.notice = reason
	closed, idle, background := s.closed, s.current == nil, s.background
	s.mu.Unlock()
	if idle && !closed && background != nil && p.killed.Load() == nil {
		background.Stream(cell.Stderr, reason+"\n"+f.Stack+"\n")
	}
	if closed {
		return
	}
	if s.cfg.OnReset != nil {
		s.cfg.OnReset(reason)
	}
	if p.served.Load() || time.Since(p.born) > time.Second {
		s.mu.Lock()
		if !s.closed && s.proc == nil {
			s.startLocked()
		}
		s.mu.Unlock()
	}
}

func (s *Session) backgroundOutput() cell.Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.background
}

// take waits for the right to use the process for something that it does one at a time.
func (s *Session) take(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended.Done():
		return ErrClosed
	}
}

func (s *Session) give() { s.turn <- struct{}{} }

// Run runs a unit and returns how it ended, when all its output has been handed to out. Cancelling ctx is an interrupt.
// The failure of the unit, the death of the process included (kinds "exit" and "died"), is in Done.Err; an error means
// that the unit could not be handed to a process at all. r.ID is set by Run.
func (s *Session) Run(ctx context.Context, r link.Run, out cell.Output, in cell.Input) (*link.Done, error) {
	if err := s.take(ctx); err != nil {
		return nil, fmt.Errorf("running: %w", err)
	}
	defer s.give()
	p, err := s.process(ctx)
	if err != nil {
		return nil, err
	}
	now := &run{out: out, in: in, done: make(chan *link.Done, 1), interrupts: make(chan struct{}, 4)}
	s.mu.Lock()
	if r.Generation != 0 && r.Generation != s.generation {
		s.mu.Unlock()
		return nil, ErrReset
	}
	s.last++
	now.id, r.ID = s.last, s.last
	s.current = now
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.current = nil
		s.mu.Unlock()
	}()
	s.TellReset(out)
	p.served.Store(true)
	p.player.set(now)
	start := time.Now()
	if err := p.conn.Send(link.KindRun, &r); err != nil {
		select { // a process that has just died is told as such
		case <-p.ended:
		case <-time.After(time.Second):
			p.player.set(nil)
			return nil, fmt.Errorf("running: %w", err)
		}
	}
	return s.await(ctx, p, now, start), nil
}

// TellReset tells out, once, that state was lost since the last run. Run does so itself; for cells that end before they
// run, because their names are gone.
func (s *Session) TellReset(out cell.Output) {
	s.mu.Lock()
	notice := s.notice
	s.notice = ""
	s.mu.Unlock()
	if notice != "" {
		out.Stream(cell.Stderr, "Note: the session was restarted, and the variables and declarations of earlier cells are gone ("+strings.TrimSuffix(firstLine(notice), "; "+lost)+").\n")
	}
}

// await waits for the end of a run, passing interrupts on.
func (s *Session) await(ctx context.Context, p *process, now *run, start time.Time) *link.Done {
	canceled := ctx.Done()
	var asked time.Time // of the first interrupt
	var look, grace <-chan time.Time
	var where string
	interrupt := func() {
		switch {
		case asked.IsZero():
			asked = time.Now()
			p.conn.Send(link.KindInterrupt, link.Interrupt{Run: now.id, LeaveAfter: int64(s.cfg.Grace / 2)})
			look, grace = time.After(s.cfg.Grace*3/4), time.After(s.cfg.Grace)
		case time.Since(asked) > 200*time.Millisecond: // nearer ones are one keystroke that came two ways
			where = p.stack()
			p.kill("interrupted twice, so the session was replaced")
		}
	}
	for {
		select {
		case d := <-now.done:
			return d
		case <-canceled:
			canceled = nil
			interrupt()
		case <-now.interrupts:
			interrupt()
		case <-look:
			where = p.stack()
		case <-grace:
			p.kill(fmt.Sprintf("interrupted, but the cell did not stop within %v, so the session was replaced", s.cfg.Grace))
		case <-p.ended:
			select {
			case d := <-now.done: // it ended just before the process did
				return d
			case <-p.reaped:
			}
			f := p.describe()
			if !asked.IsZero() && p.killed.Load() != nil {
				f.Kind = "interrupted"
				f.Stack = where
				if blocked := blockedOn(where); blocked != "" {
					f.Message += "\nThe cell was blocked in: " + blocked
				}
				f.Stack = cutGoroutine(where)
			}
			return &link.Done{ID: now.id, Err: f, Wall: int64(time.Since(start))}
		}
	}
}

// Interrupt asks the running unit to stop. One that is blocked is left behind after half the grace period. When neither
// has an effect within the grace period, or on a second call, the process is replaced. Without a running unit it does nothing.
func (s *Session) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return
	}
	select {
	case s.current.interrupts <- struct{}{}:
	default:
	}
}

// request sends one request while nothing runs.
func (s *Session) request(ctx context.Context, kind link.Kind, body func(id int64) any, answer any) (trace []byte, err error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	p, err := s.process(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.ask(ctx, kind, body)
	if err != nil {
		return nil, err
	}
	return r.trace, json.Unmarshal(r.body, answer)
}

// Vars lists session variables (all when no names are given), with a short form of their values. It waits for a running
// unit to end.
func (s *Session) Vars(ctx context.Context, names ...string) ([]link.VarValue, error) {
	var a link.VarsReply
	_, err := s.request(ctx, link.KindVars, func(id int64) any { return link.Vars{ID: id, Names: names} }, &a)
	if err != nil {
		return nil, fmt.Errorf("listing variables: %w", err)
	}
	return a.Vars, nil
}

// StartRecording starts the profiler in the session process with its options as JSON.
func (s *Session) StartRecording(ctx context.Context, options json.RawMessage) error {
	_, err := s.record(ctx, link.Record{Op: "start", Options: options})
	return err
}

// StopRecording stops the profiler and returns the trace in the file form of profiler/trace.
func (s *Session) StopRecording(ctx context.Context) ([]byte, error) {
	return s.record(ctx, link.Record{Op: "stop"})
}

func (s *Session) record(ctx context.Context, m link.Record) ([]byte, error) {
	var a link.RecordReply
	trace, err := s.request(ctx, link.KindRecord, func(id int64) any { m.ID = id; return m }, &a)
	if err == nil && a.Err != "" {
		err = errors.New(a.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("recording (%s): %w", m.Op, err)
	}
	return trace, nil
}

// Comm hands a comm message of the front end to user code.
func (s *Session) Comm(c link.Comm) error {
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	if p == nil {
		return errEnded
	}
	return p.conn.Send(link.KindComm, c)
}

// SetBackground sets where output goes that belongs to no running unit.
func (s *Session) SetBackground(out cell.Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.background = out
}

// Generation counts session processes: it increases whenever state was lost.
func (s *Session) Generation() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// Ready tells about the last session process that greeted.
func (s *Session) Ready() link.Ready {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// Restart replaces the process; all state is lost, and no notice of that is shown. A running unit is ended.
func (s *Session) Restart(ctx context.Context) error {
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	if p != nil {
		p.kill("the session was restarted")
		<-p.reaped
	}
	if _, err := s.process(ctx); err != nil {
		return fmt.Errorf("restarting: %w", err)
	}
	s.mu.Lock()
	s.notice = ""
	s.mu.Unlock()
	return nil
}

// Close ends the session process and everything that it started. It is idempotent.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	p := s.proc
	s.mu.Unlock()
	s.end()
	if p != nil {
		p.stop()
	}
	return nil
}
