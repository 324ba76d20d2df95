package gotrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	xtrace "golang.org/x/exp/trace"

	"github.com/gander-go/gander/profiler/trace"
)

// Options steer Read and Merge.
type Options struct {
	// Grain is the duration in ns under which neighbouring states of a goroutine are added up to one slice. 0 picks one
	// from the length of the recording, and doubles it whenever there would be too many slices.
	Grain int64
	// MonoZero is the reading of CLOCK_MONOTONIC at time zero of the trace merged into. 0 means that of
	// trace.MonotonicZero; where that is unknown too the wall clock of Meta.Epoch is used, which is less exact.
	MonoZero int64
}

// AttachmentKind is the kind of attachments that MergeAttachments merges.
const AttachmentKind = "go-exec-trace"

// Read builds a trace from an execution trace. Its time zero is the first event.
func Read(r io.Reader, opt Options) (*trace.Trace, error) {
	t := &trace.Trace{Meta: trace.Meta{Tool: "go-trace", Rank: trace.NoRank}}
	b := newBuilder(t, opt, t.Process(0, "Go program"))
	if err := b.run(r); err != nil {
		return nil, fmt.Errorf("reading execution trace: %w", err)
	}
	return t, nil
}

// Merge adds to t what an execution trace recorded at the same time says: states of goroutines with their reasons, what
// each processor ran, garbage collection, stop-the-world pauses, samples, tasks, regions, logs and heap counters. What t
// holds of collections and CPU samples is replaced, because the execution trace knows their times. What lies outside of
// the window of t is left out.
func Merge(t *trace.Trace, r io.Reader, opt Options) error {
	if opt.MonoZero == 0 {
		opt.MonoZero = t.MonoZero()
	}
	b := newBuilder(t, opt, t.Process(t.Meta.PID, "Go program"))
	b.clock.zero, b.clock.merged, b.clock.epoch = opt.MonoZero, true, t.Meta.Epoch
	b.low, b.high = t.Meta.Start, t.Meta.End
	if err := b.run(r); err != nil {
		return fmt.Errorf("merging execution trace: %w", err)
	}
	return nil
}

// MergeAttachments merges the execution traces attached to t and takes them off. One that cannot be parsed becomes a
// problem of t.
func MergeAttachments(t *trace.Trace, opt Options) {
	t.Attachments = slices.DeleteFunc(t.Attachments, func(a trace.Attachment) bool {
		if a.Kind != AttachmentKind {
			return false
		}
		if err := Merge(t, bytes.NewReader(a.Data), opt); err != nil {
			t.Problem("exec-trace", 1, "The execution trace could not be used: "+err.Error()+".", "")
		}
		return true
	})
}

// run reads all events and completes t.
func (b *builder) run(r io.Reader) error {
	events, err := b.events(r)
	switch {
	case err != nil && events == 0:
		return err
	case err != nil:
		b.t.Problem("truncated", 1, fmt.Sprintf("The execution trace ends early (%v); everything before is shown.", err), "")
	case events == 0:
		return errors.New("it holds no events")
	}
	b.finish()
	return nil
}

// events passes every event on. The parser checks its input, but not against every accident: its panics are errors here.
func (b *builder) events(r io.Reader) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	in, err := xtrace.NewReader(r)
	if err != nil {
		return 0, err
	}
	for {
		e, err := in.ReadEvent()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if e.Kind() != xtrace.EventSync {
			n++
		}
		b.event(&e)
	}
}

// clock converts times of the execution trace to those of t.
type clock struct {
	merged bool
	zero   int64 // CLOCK_MONOTONIC at time zero, 0 when unknown
	epoch  int64 // wall clock at time zero
	known  bool
	offset int64 // to add
}

// sync learns the offset from the first reading of all clocks. Traces before Go 1.25 have none: their clock is
// CLOCK_MONOTONIC on Linux.
func (c *clock) sync(s xtrace.Sync, first int64, t *trace.Trace) {
	if c.known {
		return
	}
	now := s.ClockSnapshot
	switch {
	case !c.merged:
		if first == 0 {
			return
		}
		c.offset = -first
		if now != nil {
			t.Meta.Epoch = now.Wall.UnixNano() - (int64(now.Trace) - first)
		}
	case now == nil:
		c.offset = -c.zero
	case c.zero != 0:
		c.offset = int64(now.Mono) - int64(now.Trace) - c.zero
	default:
		c.offset = now.Wall.UnixNano() - int64(now.Trace) - c.epoch
	}
	c.known = true
}
