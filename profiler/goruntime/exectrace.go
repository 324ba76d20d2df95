package goruntime

import (
	"bytes"
	"errors"
	"fmt"
	rtrace "runtime/trace"
	"sync"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// ExecTraceKind is the kind of the attachment that holds an execution trace. Parsing it takes a module that this package
// must not link, so it travels as it is; profiler/gotrace merges it where the trace is read.
const ExecTraceKind = "go-exec-trace"

// maxExecTrace bounds what is kept of an execution trace, in bytes: about ten million events.
const maxExecTrace = 64 << 20

// ExecTrace is the source of goroutine states and their reasons.
type ExecTrace struct{ out capped }

// Start starts runtime/trace. It fails while the program traces itself.
func (e *ExecTrace) Start() error {
	if rtrace.IsEnabled() {
		return errors.New("starting execution trace: the program is tracing already")
	}
	e.out = capped{limit: maxExecTrace}
	if err := rtrace.Start(&e.out); err != nil {
		return fmt.Errorf("starting execution trace: %w", err)
	}
	return nil
}

// Stop stops it and waits until everything is written.
func (e *ExecTrace) Stop() error {
	rtrace.Stop()
	return nil
}

// AddTo attaches the raw trace.
func (e *ExecTrace) AddTo(t *trace.Trace, _ record.Window) error {
	b, lost := e.out.bytes()
	if lost > 0 {
		t.Problem("cut-exec-trace", lost, fmt.Sprintf("The execution trace was cut at %d MiB; states after that are missing (the count is bytes).", maxExecTrace>>20),
			"Record a shorter piece with --sched.")
	}
	t.Attachments = append(t.Attachments, trace.Attachment{Kind: ExecTraceKind, Data: b})
	return nil
}

// capped keeps what is written to it up to a limit and counts the rest.
type capped struct {
	limit int

	// mu guards the rest.
	mu   sync.Mutex
	buf  bytes.Buffer
	lost int64
}

func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Once something is lost nothing more is kept: a trace with a hole cannot be parsed.
	if c.lost > 0 || c.buf.Len()+len(b) > c.limit {
		c.lost += int64(len(b))
		return len(b), nil
	}
	return c.buf.Write(b)
}

func (c *capped) bytes() ([]byte, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Bytes(), c.lost
}
