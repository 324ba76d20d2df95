//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// counts are the pieces of device work of a trace, how many of them have an arrow, and how many lie in a span.
func counts(tr *trace.Trace) (work, arrows, tied int) {
	ids := map[int64]bool{}
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s) == trace.ClassAnnotation {
			ids[s.Ext] = true
		}
	}
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s).DeviceWork() {
			work++
			if ids[s.Ext] {
				tied++
			}
		}
	}
	for _, f := range tr.Flows {
		if f.From != trace.NoSlice && f.To != trace.NoSlice {
			arrows++
		}
	}
	return work, arrows, tied
}

// TestSchedule cuts steps cleanly: each cycle has the work of its own active steps, and accumulating keeps that of all.
func TestSchedule(t *testing.T) {
	c := open(t)
	const perStep = 16 // of two workers: two uploads, four kernels, a set and a download
	for _, accumulate := range []bool{false, true} {
		var got []string
		p, err := profiler.Start(profiler.Options{
			Activities: profiler.CPU | profiler.CUDA, AccEvents: accumulate,
			Schedule: profiler.Schedule{SkipFirst: 1, Wait: 1, Warmup: 1, Active: 2, Repeat: 3},
			OnTraceReady: func(p *profiler.Profile) {
				if err := p.Trace().Validate(); err != nil {
					t.Error(err)
				}
				work, arrows, tied := counts(p.Trace())
				got = append(got, fmt.Sprint(work, arrows, tied))
				for _, q := range p.Trace().Problems {
					t.Errorf("problem %s: %s", q.Kind, q.Text)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		train(t, c, 16, p.Step)
		p.Stop()
		var want []string
		for cycle := range 3 {
			n := 2 * perStep
			if accumulate {
				n *= cycle + 1
			}
			want = append(want, fmt.Sprint(n, n, n))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("accumulating %v: work, arrows and tied work of the cycles are %v, want %v", accumulate, got, want)
		}
	}
}

// TestMemoryOfProfile compares allocations with what the stand-in did, byte for byte, each in its span.
func TestMemoryOfProfile(t *testing.T) {
	c := open(t)
	file := filepath.Join(t.TempDir(), "log")
	t.Setenv("STANDIN_CUPTI_LOG", file)
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		t.Fatal(err)
	}
	train(t, c, 3, func() {})
	p.Stop()
	tr := p.Trace()
	type key struct {
		addr  uint64
		bytes int64
		n     int
	}
	want, seen := map[key]bool{}, map[uint64]int{}
	for _, d := range readLog(t, file) {
		if d.what == "alloc" || d.what == "free" {
			n := int64(d.bytes)
			if d.what == "free" {
				n = -n
			}
			want[key{d.address, n, seen[d.address]}] = true
			seen[d.address]++
		}
	}
	if len(want) != 3*2*2*2 {
		t.Fatalf("the stand-in saw %d allocations and releases", len(want))
	}
	clear(seen)
	var total int64
	n := 0
	for _, m := range tr.Memory {
		if m.Space != trace.MemDevice {
			continue
		}
		n++
		if k := (key{m.Addr, m.Bytes, seen[m.Addr]}); !want[k] {
			t.Errorf("%+v did not happen", k)
		}
		seen[m.Addr]++
		total += m.Bytes
		if m.Allocated != total || m.Reserved != total {
			t.Errorf("after %+d at %d there are %d allocated and %d reserved, want %d", m.Bytes, m.Time, m.Allocated, m.Reserved, total)
		}
		if tr.Tracks[m.Track].Kind != trace.TrackGoroutine {
			t.Errorf("%+v is on track %q", m, tr.Tracks[m.Track].Name)
		}
	}
	if n != len(want) || total != 0 {
		t.Errorf("%d events of %d; %d bytes are left", n, len(want), total)
	}
}

// TestLibraryClock measures how long a pair of readings takes through the library: a device time is off by half of it.
func TestLibraryClock(t *testing.T) {
	if err := cupti.InitDriver(); err != nil {
		t.Fatal(err)
	}
	lib, err := cupti.Open()
	if err != nil {
		t.Fatal(err)
	}
	var c clock
	if err := c.read(lib.Timestamp); err != nil {
		t.Fatal(err)
	}
	t.Logf("reading a pair takes %d ns", c.gap)
	if c.gap >= 1000 {
		t.Errorf("device times may be off by %d ns", c.gap/2)
	}
}

// TestSpanEnds has spans that end on other goroutines, late or never leave nothing behind for later profiles.
func TestSpanEnds(t *testing.T) {
	c := open(t)
	m, err := c.Load([]byte(image))
	if err != nil {
		t.Fatal(err)
	}
	saxpy, err := m.Function("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	x, err := driver.Alloc[float32](c, 64)
	if err != nil {
		t.Fatal(err)
	}
	var open []profiler.Span
	for round := range 3 {
		p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, profiler.Begin("never ends in its profile"))
		other := profiler.Begin("ends elsewhere")
		done := make(chan struct{})
		go func() { other.End(); close(done) }()
		<-done
		inner := profiler.Begin("launches")
		if err := saxpy.Launch(driver.Over(64, 64), int32(64), float32(1), x, x); err != nil {
			t.Fatal(err)
		}
		inner.End()
		p.Stop()
		tr := p.Trace()
		for i := range tr.Slices {
			if s := &tr.Slices[i]; tr.Class(s) == trace.ClassKernel {
				for k := range tr.Slices {
					if o := &tr.Slices[k]; o.Ext == s.Ext && tr.Class(o) == trace.ClassAnnotation && tr.Name(o) != "launches" {
						t.Errorf("round %d: the kernel belongs to %q", round, tr.Name(o))
					}
				}
			}
		}
		if work, arrows, tied := counts(tr); work != 1 || arrows != 1 || tied != 1 {
			t.Errorf("round %d: %d pieces of work, %d arrows, %d tied", round, work, arrows, tied)
		}
	}
	for _, s := range open {
		s.End()
	}
}

// BenchmarkSpan is a span while CUDA is recorded: its id is pushed and popped.
func BenchmarkSpan(b *testing.B) {
	for _, c := range []struct {
		name string
		a    profiler.Activity
	}{{"cpu", profiler.CPU}, {"cpu+cuda", profiler.CPU | profiler.CUDA}} {
		b.Run(c.name, func(b *testing.B) {
			p, err := profiler.Start(profiler.Options{Activities: c.a})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Stop()
			b.ReportAllocs()
			for b.Loop() {
				profiler.Begin("x").End()
			}
		})
	}
}

// TestTwoDevices keeps devices apart: each has a process of its own, with its streams and its memory.
func TestTwoDevices(t *testing.T) {
	t.Setenv("STANDIN_DEVICES", "2")
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	for d := range 2 {
		c, err := driver.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		span := profiler.Begin("upload")
		for range d + 1 {
			if _, err := driver.Upload(c, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		span.End()
		c.Close()
	}
	p.Stop()
	tr := p.Trace()
	if len(tr.Devices) != 2 || tr.Devices[0].SMs != 4 || tr.Devices[1].Name == "" {
		t.Fatalf("devices %+v", tr.Devices)
	}
	var copies, bytes [2]int
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s) == trace.ClassMemcpy {
			a := tr.Copies[s.Args]
			copies[a.Device]++
			if k := tr.Tracks[s.Track]; k.Device != a.Device || tr.Processes[k.Process].Device != a.Device {
				t.Errorf("a copy of device %d is on track %+v", a.Device, k)
			}
		}
	}
	for _, m := range tr.Memory {
		if m.Space == trace.MemDevice {
			bytes[m.Device] += int(m.Bytes)
			if int(m.Allocated) != bytes[m.Device] {
				t.Errorf("%d bytes are allocated on device %d, want %d", m.Allocated, m.Device, bytes[m.Device])
			}
		}
	}
	if copies != [2]int{1, 2} || bytes != [2]int{n, 2 * n} {
		t.Errorf("copies %v, bytes %v", copies, bytes)
	}
}
