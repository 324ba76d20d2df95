package record

import (
	"strconv"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// recording makes r active for a benchmark or test.
func recording(t testing.TB, c Config) *Recorder {
	t.Helper()
	r := New(c)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// emptied throws away the recorded spans now and then, so that a benchmark never measures a full recording.
func (r *Recorder) emptied(i int) {
	if i&(1<<18-1) == 0 {
		for k := range r.shards {
			sh := &r.shards[k]
			sh.mu.Lock()
			sh.full = nil
			sh.mu.Unlock()
		}
		r.chunks.Store(0)
	}
}

func BenchmarkSpan(b *testing.B) {
	b.Run("off", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Begin("forward").End()
		}
	})
	for _, c := range []struct {
		name   string
		config Config
	}{{"on", Config{}}, {"stacks", Config{Stacks: true}}, {"labels", Config{Labels: true}}, {"os counts", Config{OSCounts: true}}} {
		b.Run(c.name, func(b *testing.B) {
			r := recording(b, c.config)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				Begin("forward").End()
				i++
				r.emptied(i)
			}
		})
	}
	b.Run("deferred", func(b *testing.B) {
		r := recording(b, Config{})
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			func() { defer Begin("forward").End() }()
			i++
			r.emptied(i)
		}
	})
	b.Run("monotonic", func(b *testing.B) {
		old := ticking
		ticking = false
		defer func() { ticking = old }()
		r := recording(b, Config{})
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			Begin("forward").End()
			i++
			r.emptied(i)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		r := recording(b, Config{})
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 1; pb.Next(); i++ {
				Begin("forward").End()
				r.emptied(i)
			}
		})
	})
	b.Run("operator", func(b *testing.B) {
		r := recording(b, Config{Shapes: true, FLOPs: true})
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			BeginOp("matmul", &Op{Shapes: [][]int{{64, 32}, {32, 16}}, FLOPs: 65536, Bytes: 28672}).End()
			i++
			r.emptied(i)
		}
	})
	b.Run("64 names", func(b *testing.B) {
		r := recording(b, Config{})
		var names [64]string
		for i := range names {
			names[i] = "span " + strconv.Itoa(i)
		}
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			Begin(names[i&63]).End()
			i++
			r.emptied(i)
		}
	})
}

// BenchmarkMillion is what a program with a million spans sees: the time per span and from Stop to a trace.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	b.Run("capture", func(b *testing.B) {
		for b.Loop() {
			r := New(Config{})
			if err := r.Start(); err != nil {
				b.Fatal(err)
			}
			for range n / 2 {
				outer := Begin("outer")
				Begin("inner").End()
				outer.End()
			}
			r.Stop()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
	})
	b.Run("trace", func(b *testing.B) {
		r := New(Config{})
		if err := r.Start(); err != nil {
			b.Fatal(err)
		}
		for range n / 2 {
			outer := Begin("outer")
			Begin("inner").End()
			outer.End()
		}
		r.Stop()
		b.ReportAllocs()
		for b.Loop() {
			var t trace.Trace
			r.AddTo(&t, 0)
		}
	})
}
