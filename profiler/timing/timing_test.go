package timing

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestRunCounts(t *testing.T) {
	n := 0
	r := Run(Options{Loops: 3, Runs: 4}, func() { n++ })
	if n != 12 || len(r.Times) != 4 || r.Loops != 3 {
		t.Errorf("%d calls, %d runs of %d", n, len(r.Times), r.Loops)
	}
}

func TestRunMeasures(t *testing.T) {
	const nap = 5 * time.Millisecond
	r := Run(Options{Loops: 4, Runs: 3}, func() { time.Sleep(nap) })
	if r.Best() < nap.Seconds() {
		t.Errorf("%v for a sleep of %v: no sleep is shorter than asked", r.Best(), nap)
	}
	if cpu := Run(Options{Loops: 4, Runs: 1, CPU: true}, func() { time.Sleep(nap) }); cpu.Mean() > r.Best() {
		t.Errorf("sleeping took %v s of CPU time", cpu.Mean())
	}
}

func TestChoose(t *testing.T) {
	r := Run(Options{Runs: 1}, func() { time.Sleep(30 * time.Millisecond) })
	if r.Loops != 5 && r.Loops != 10 { // 7 × 30 ms are 0.2 s; a late timer makes 5 enough
		t.Errorf("chose %d loops", r.Loops)
	}
}

func TestResult(t *testing.T) {
	r := &Result{Loops: 1000, Precision: 3, Times: []time.Duration{time.Millisecond, 3 * time.Millisecond}}
	if got := r.Mean(); math.Abs(got-2e-6) > 1e-15 {
		t.Errorf("mean %v", got)
	}
	if got := r.StdDev(); math.Abs(got-1e-6) > 1e-15 {
		t.Errorf("standard deviation %v", got)
	}
	if got, want := r.String(), "2 µs ± 1 µs per loop (mean ± std. dev. of 2 runs, 1,000 loops each)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Times[1] = 5 * time.Millisecond
	if !strings.Contains(r.String(), "5.00 times longer") {
		t.Errorf("no warning in %q", r)
	}
}

func TestFormat(t *testing.T) {
	for _, tc := range []struct {
		s    float64
		want string
	}{{0, "0 ns"}, {1.5e-9, "1.5 ns"}, {12.345e-6, "12.3 µs"}, {0.0123, "12.3 ms"}, {1.5, "1.5 s"}, {3725, "1h2m5s"}} {
		if got := Format(tc.s, 3); got != tc.want {
			t.Errorf("Format(%v) = %q, want %q", tc.s, got, tc.want)
		}
	}
}

func TestMemory(t *testing.T) {
	const size = 64 << 20
	var keep []byte
	r := Memory(MemoryOptions{}, func() {
		keep = make([]byte, size)
		for i := 0; i < size; i += 4096 {
			keep[i] = 1
		}
	})
	Keep(keep)
	if r.Allocated < size || r.Allocated > size+1<<20 {
		t.Errorf("%d bytes allocated, want %d", r.Allocated, size)
	}
	if r.HeapPeak < size {
		t.Errorf("peak of the heap is %d", r.HeapPeak)
	}
	if r.Peak != 0 && (r.Increment < size/2 || r.Peak < r.Increment) {
		t.Errorf("peak %d, increment %d", r.Peak, r.Increment)
	}
}

func TestMemoryCountsOnlyTheFunction(t *testing.T) {
	const objects, size = 1000, 1024
	keep := make([][]byte, objects)
	var r *MemoryResult
	for range 5 { // other goroutines of the test may allocate meanwhile: the least counts
		m := Memory(MemoryOptions{Interval: time.Millisecond}, func() {
			for i := range keep {
				keep[i] = make([]byte, size)
			}
			time.Sleep(20 * time.Millisecond)
		})
		if r == nil || m.Objects < r.Objects {
			r = m
		}
	}
	if r.Samples < 3 {
		t.Errorf("%d samples", r.Samples)
	}
	if r.Objects < objects || r.Objects > objects+10 || r.Allocated < objects*size || r.Allocated > objects*size+4096 {
		t.Errorf("%d bytes in %d objects, want %d in %d", r.Allocated, r.Objects, objects*size, objects)
	}
}

func TestKeepAllocatesNothing(t *testing.T) {
	x := 1000.0
	if n := testing.AllocsPerRun(100, func() { Keep(x + 1); x++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
