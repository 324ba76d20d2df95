package profiler

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// TestFiftyMillionSpans: memory stays bounded and what does not fit is counted.
func TestFiftyMillionSpans(t *testing.T) {
	n := 50_000_000
	if testing.Short() || raceEnabled {
		n = 2_000_000
	}
	const kept = 1 << 20
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := start(t, Options{MaxEvents: kept})
	for range n {
		Begin("x").End()
	}
	runtime.ReadMemStats(&after)
	p.Stop()
	x := p.Trace()
	valid(t, x)
	got, dropped := len(spans(x)), problemCount(x, "dropped-spans")
	if int64(got)+dropped != int64(n) || got < kept || got > kept+2048 {
		t.Errorf("%d spans are kept and %d dropped, of %d", got, dropped, n)
	}
	// 64 bytes an event is the bound; 32 are used.
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64*kept {
		t.Errorf("the heap grew by %d bytes for %d events", grown, kept)
	}
}

func TestHundredThousandGoroutines(t *testing.T) {
	const n = 100_000
	p := start(t, Options{})
	release := make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			defer Begin("wait").End()
			<-release
		})
	}
	open := Begin("left open")
	close(release)
	wg.Wait()
	p.Stop()
	open.End()
	x := p.Trace()
	valid(t, x)
	unfinished := 0
	for i := range x.Slices {
		if x.Slices[i].Flags&trace.FlagUnfinished != 0 {
			unfinished++
		}
	}
	if got := len(spans(x)); got != n+1 || unfinished != 1 {
		t.Errorf("%d spans, %d unfinished", got, unfinished)
	}
	if row(t, p.KeyAverages(), "wait").Count != n {
		t.Error("averages miss spans")
	}
}

// TestStoppedWhileOthersRecord stops profiles under goroutines that begin and end spans all the time.
func TestStoppedWhileOthersRecord(t *testing.T) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					a := Begin("outer")
					BeginOp("inner", &Op{Shapes: [][]int{{1, 2}}}).End()
					Counter("c", "count", 1)
					a.End()
					runtime.Gosched()
				}
			}
		})
	}
	for i := range 18 {
		p := start(t, Options{RecordShapes: i%2 == 0, WithStack: i%3 == 0, MaxEvents: 1 << 14, Schedule: Schedule{Warmup: i % 2, Active: 1}})
		for range 4 {
			time.Sleep(time.Millisecond)
			p.Step()
		}
		p.Stop()
		valid(t, p.Trace())
	}
	close(quit)
	wg.Wait()
	if record.Active() {
		t.Error("still recording")
	}
}

func TestRecordsNothing(t *testing.T) {
	p := start(t, Options{Activities: CPU})
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if len(x.Slices) != 0 || p.KeyAverages().Table() != "" && len(p.KeyAverages().Rows) != 0 {
		t.Errorf("%d slices", len(x.Slices))
	}
	var z Span
	z.End()
}
