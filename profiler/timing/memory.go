package timing

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// MemoryOptions say how Memory measures.
type MemoryOptions struct {
	Runs     int           // 0 is 1; the largest of all runs counts
	Interval time.Duration // between samples; 0 is 10 ms
}

// MemoryResult is what Memory measured. All sizes are bytes.
type MemoryResult struct {
	Peak      int64 // of resident memory while the function ran
	Increment int64 // of that over resident memory before
	HeapPeak  int64 // of the Go heap (objects, live and not yet swept)
	Allocated int64 // by one run, exact, by the whole process
	Objects   int64
	Samples   int
}

// Memory runs f and watches the memory of the process. The garbage collector runs once before each run, so that what
// earlier code left behind does not count. Peaks between two samples are missed: the interval bounds that.
func Memory(o MemoryOptions, f func()) *MemoryResult {
	if o.Interval <= 0 {
		o.Interval = 10 * time.Millisecond
	}
	r := &MemoryResult{}
	for range max(1, o.Runs) {
		r.run(o, f)
	}
	return r
}

func (r *MemoryResult) run(o MemoryOptions, f func()) {
	w := newWatch(o.Interval)
	defer w.close()
	runtime.GC()
	w.sample() // what reading needs is allocated now
	base := w.resident()
	w.peak, w.heap, w.n = 0, 0, 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.sample()
	go w.run()
	func() {
		defer func() {
			close(w.stop)
			<-w.done
		}()
		f()
	}()
	w.sample()
	runtime.ReadMemStats(&after)
	if w.peak >= r.Peak {
		r.Peak, r.Increment = w.peak, max(0, w.peak-base)
	}
	r.HeapPeak = max(r.HeapPeak, w.heap)
	r.Allocated, r.Objects = int64(after.TotalAlloc-before.TotalAlloc), int64(after.Mallocs-before.Mallocs)
	r.Samples += w.n
}

// watch samples memory on a goroutine of its own until stop is closed. It allocates nothing while it does, so as not to
// count itself.
type watch struct {
	peak, heap int64
	n          int
	stop, done chan struct{}
	ticker     *time.Ticker
	metric     [1]metrics.Sample
	statm      *os.File // nil where the system has none
	text       [128]byte
}

func newWatch(every time.Duration) *watch {
	w := &watch{stop: make(chan struct{}), done: make(chan struct{}), ticker: time.NewTicker(every)}
	w.metric[0].Name = "/memory/classes/heap/objects:bytes"
	w.statm, _ = os.Open("/proc/self/statm") // nil: Peak stays 0
	return w
}

func (w *watch) close() {
	w.ticker.Stop()
	w.statm.Close() // an error for nil, which does not matter
}

func (w *watch) sample() {
	metrics.Read(w.metric[:])
	w.heap = max(w.heap, int64(w.metric[0].Value.Uint64()))
	w.peak = max(w.peak, w.resident())
	w.n++
}

func (w *watch) run() {
	defer close(w.done)
	for {
		select {
		case <-w.ticker.C:
			w.sample()
		case <-w.stop:
			return
		}
	}
}

// resident is the resident set of the process in bytes, 0 where the system does not tell: the second number of statm, in
// pages.
func (w *watch) resident() int64 {
	if w.statm == nil {
		return 0
	}
	n, _ := w.statm.ReadAt(w.text[:], 0) // io.EOF behind the text
	field, pages := 0, int64(0)
	for _, c := range w.text[:n] {
		switch {
		case c == ' ':
			field++
		case field == 1 && c >= '0' && c <= '9':
			pages = pages*10 + int64(c-'0')
		}
	}
	return pages * int64(os.Getpagesize())
}

// String is the line that %memit of IPython's memory_profiler prints, with what Go knows exactly.
func (r *MemoryResult) String() string {
	mib := func(n int64) float64 { return float64(n) / (1 << 20) }
	return fmt.Sprintf("peak memory: %.2f MiB, increment: %.2f MiB, allocated: %.2f MiB in %s objects", mib(r.Peak), mib(r.Increment), mib(r.Allocated), thousands(int(r.Objects)))
}
