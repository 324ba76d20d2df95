package profiler_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/analyze"
)

// threadCPU is the CPU time of the calling thread in ns.
func threadCPU() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// compute computes until the thread has used d.
func compute(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for from := threadCPU(); threadCPU()-from < int64(d); {
	}
}

// Spans whose CPU time, waits and page faults are known are counted so, and each row sums its own.
func TestOSCounts(t *testing.T) {
	const pages = 500
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, OSCounts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	for range 3 {
		profiler.Record("compute", func() { compute(5 * time.Millisecond) })
		profiler.Record("wait", func() { time.Sleep(5 * time.Millisecond) })
	}
	profiler.Record("outer", func() {
		profiler.Record("inner", func() { compute(2 * time.Millisecond) })
		done := make(chan bool)
		go func() { // another thread's time is not the span's
			profiler.Record("other", func() { compute(3 * time.Millisecond) })
			done <- true
		}()
		<-done
	})
	profiler.Record("touch", func() {
		b, err := syscall.Mmap(-1, 0, pages*syscall.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Error(err)
			return
		}
		syscall.Madvise(b, 15) // MADV_NOHUGEPAGE: one fault for each page
		for i := 0; i < len(b); i += syscall.Getpagesize() {
			b[i] = 1
		}
		syscall.Munmap(b)
	})
	for range 1000 {
		profiler.Begin("short").End()
	}
	p.Stop()
	if err := p.Trace().Validate(); err != nil {
		t.Fatal(err)
	}
	avg := p.KeyAverages()
	find := func(key string) analyze.OSCounts {
		for _, r := range avg.Rows {
			if r.Key == key {
				if r.OS == nil {
					return analyze.OSCounts{}
				}
				return *r.OS
			}
		}
		t.Fatalf("no row %q", key)
		return analyze.OSCounts{}
	}
	near := func(what string, got, want, slack int64) {
		t.Helper()
		if got < want || got > want+slack {
			t.Errorf("%s: %d, want %d to %d", what, got, want, want+slack)
		}
	}
	const ms = int64(time.Millisecond)
	computed, wait := find("compute"), find("wait")
	near("CPU time of compute", computed.CPU, 15*ms, ms)
	near("CPU time of wait", wait.CPU, 0, ms)
	near("time of wait", wait.Wall, 15*ms, 1000*ms)
	near("switches of wait", wait.Switches+wait.Preemptions, 2, 50) // three waits; one may end before its thread sleeps
	near("spans of compute", computed.Spans, 3, 0)
	near("CPU time of outer", find("outer").CPU, 2*ms, ms)
	near("CPU time of inner", find("inner").CPU, 2*ms, ms)
	near("CPU time of other", find("other").CPU, 3*ms, ms)
	near("page faults", find("touch").Faults, pages, 50)
	if c := find("short"); c.Spans > 100 { // those that were interrupted count
		t.Errorf("%d short spans were counted", c.Spans)
	}

	table := avg.Table(profiler.SortBy("os_cpu_time"))
	for _, want := range []string{"CPU time", "on CPU", "Switches", "spans under 20.000us"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if first := strings.Index(table, "compute"); first < 0 || first > strings.Index(table, "wait") {
		t.Errorf("not sorted by CPU time:\n%s", table)
	}
	var out bytes.Buffer
	if err := avg.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Key string
		OS  *struct {
			CPU int64 `json:"cpu_ns"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range rows {
		found = found || r.Key == "compute" && r.OS != nil && r.OS.CPU == computed.CPU
	}
	if !found {
		t.Errorf("JSON lacks the counts of compute: %s", out.String())
	}
}

// A goroutine is on its own again when its spans are over, also those that another goroutine ended; calls that are counted and sampled
// spans go with it.
func TestOSCountsRelease(t *testing.T) {
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, OSCounts: true, SampleHz: 100, WithStack: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	s := profiler.Begin("ended elsewhere")
	done := make(chan bool)
	go func() { s.End(); done <- true }()
	<-done
	profiler.Record("next", func() {})
	before := runtime.NumGoroutine()
	for range 200 { // a goroutine that ends while locked takes its thread along: there would be 200 threads less
		go func() {
			defer profiler.Begin("goroutine").End()
			runtime.Goexit()
		}()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.Stop()
	if err := p.Trace().Validate(); err != nil {
		t.Fatal(err)
	}
}

// Without asking, only steps are counted, for the process, and the table says so in one line.
func TestOSCountsOfSteps(t *testing.T) {
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, Schedule: profiler.Schedule{Warmup: 1, Active: 2, Repeat: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	for range 3 {
		profiler.Record("compute", func() { compute(3 * time.Millisecond) })
		p.Step()
	}
	p.Stop()
	avg := p.KeyAverages()
	for _, r := range avg.Rows {
		switch {
		case r.Key == "ProfilerStep*":
			if r.OS == nil || !r.OS.Process || r.OS.Spans != 2 || r.OS.CPU < int64(6*time.Millisecond) {
				t.Errorf("%s: %+v", r.Key, r.OS)
			}
		case r.OS != nil:
			t.Errorf("%s was counted: %+v", r.Key, r.OS)
		}
	}
	if table := avg.Table(); !strings.Contains(table, "The process in 2 steps: CPU time") || strings.Contains(table, "Switches") {
		t.Errorf("the table is\n%s", table)
	}
}
