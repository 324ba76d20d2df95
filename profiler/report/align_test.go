package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/gotrace"
	"github.com/gander-go/gander/profiler/trace"
)

// TestStatesAlign: the execution trace is recorded on another clock than spans and parsed elsewhere. A goroutine that
// sleeps inside a span must be shown waiting inside that span, on the span's own track, for as long as it slept.
func TestStatesAlign(t *testing.T) {
	p, err := profiler.Start(profiler.Options{Sched: true})
	if err != nil {
		t.Fatal(err)
	}
	var slept time.Duration
	profiler.Record("sleeps", func() {
		from := time.Now()
		time.Sleep(30 * time.Millisecond)
		slept = time.Since(from)
	})
	p.Stop()
	x := p.Trace().Clone()
	if len(x.Attachments) == 0 {
		t.Skip("SKIPPED: the program is being traced (go test -trace)")
	}
	gotrace.MergeAttachments(x, gotrace.Options{})
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	var span *trace.Slice
	for i := range x.Slices {
		if x.Name(&x.Slices[i]) == "sleeps" {
			span = &x.Slices[i]
		}
	}
	if span == nil {
		t.Fatal("the span is gone")
	}
	const slack = int64(200 * time.Microsecond)
	goid := x.Tracks[span.Track].ID
	var waited int64
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Class(s) != trace.ClassState || x.Tracks[s.Track].ID != goid || !strings.Contains(x.Name(s), "sleep") || s.End() <= span.Start || s.Start >= span.End() {
			continue
		}
		if s.Start < span.Start-slack || s.End() > span.End()+slack {
			t.Errorf("waiting from %d to %d does not lie in the span from %d to %d", s.Start, s.End(), span.Start, span.End())
		}
		waited += s.Dur
	}
	// It wakes up before it runs again, so it waits at least the 30 ms asked for and at most what passed.
	if waited < int64(30*time.Millisecond)-slack || waited > slept.Nanoseconds()+slack {
		t.Errorf("waited %d ns, slept for %v", waited, slept)
	}
}
