package profiler

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

const million = 1_000_000

// recordMillion records a million spans, every other one inside the one before.
func recordMillion() {
	for range million / 2 {
		outer := Begin("outer")
		Begin("inner").End()
		outer.End()
	}
}

// BenchmarkMillionSpans is what a program with a million spans waits for: recording them, Stop, the table, the export.
func BenchmarkMillionSpans(b *testing.B) {
	b.Run("capture and stop", func(b *testing.B) {
		var capture, stop time.Duration
		var live uint64
		for b.Loop() {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			p, err := Start(Options{Activities: CPU})
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			recordMillion()
			capture += time.Since(start)
			runtime.GC()
			runtime.ReadMemStats(&after)
			live = after.HeapAlloc - before.HeapAlloc
			start = time.Now()
			p.Stop()
			stop += time.Since(start)
			if n := len(p.Trace().Slices); n != million {
				b.Fatalf("%d slices", n)
			}
		}
		b.ReportMetric(float64(capture.Nanoseconds())/float64(b.N)/million, "ns/span")
		b.ReportMetric(float64(stop.Milliseconds())/float64(b.N), "ms-stop")
		b.ReportMetric(float64(live)/million, "B/span-live")
	})
	p, err := Start(Options{Activities: CPU})
	if err != nil {
		b.Fatal(err)
	}
	recordMillion()
	p.Stop()
	b.Run("key averages", func(b *testing.B) {
		for b.Loop() {
			if n := p.KeyAverages().Rows[0].Count; n != million/2 {
				b.Fatalf("%d calls", n)
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		n := &countingWriter{w: io.Discard}
		for b.Loop() {
			n.n = 0
			if err := trace.Encode(n, p.Trace()); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(n.n)
		b.ReportMetric(float64(n.n)/million, "B/span")
	})
	b.Run("chrome export", func(b *testing.B) {
		n := &countingWriter{w: io.Discard}
		b.ReportAllocs()
		for b.Loop() {
			n.n = 0
			if err := kineto.Write(n, p.Trace(), kineto.WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(n.n)
	})
}
