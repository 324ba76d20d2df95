package goruntime

import (
	"runtime"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

func newTrace() *trace.Trace {
	t := new(trace.Trace)
	t.Category("", trace.ClassOther)
	return t
}

func TestThinningKeepsCoverage(t *testing.T) {
	m := &Metrics{Interval: time.Hour, Runtime: true}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	m.Open()
	start := record.Now()
	const readings = 3*maxReadings + 100
	m.mu.Lock()
	for range readings {
		m.read()
	}
	m.mu.Unlock()
	end := record.Now()
	m.Close()
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(m.times) > maxReadings || len(m.times) < maxReadings/2 || m.stride != 4 {
		t.Fatalf("%d readings are kept, every %dth", len(m.times), m.stride)
	}
	x := newTrace()
	if err := m.AddTo(x, record.Window{Epoch: start, Start: start, End: end}); err != nil {
		t.Fatal(err)
	}
	x.Sort()
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	c := x.Counters[0]
	if c.Times[0] > (end-start)/100 || c.Times[len(c.Times)-1] < (end-start)*99/100 {
		t.Errorf("values cover %d to %d of %d ns", c.Times[0], c.Times[len(c.Times)-1], end-start)
	}
}

func TestCollectionsOutsideTheWindowAreLeftOut(t *testing.T) {
	m := &Metrics{Interval: time.Hour, Runtime: true}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	time.Sleep(2 * time.Millisecond) // the runtime notes ends by the wall clock
	start := record.Now()
	runtime.GC()
	end := record.Now()
	time.Sleep(2 * time.Millisecond)
	runtime.GC()
	m.Close()
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := len(m.gc.list); n < 3 {
		t.Fatalf("%d collections were noted, 3 were forced", n)
	}
	x := newTrace()
	if err := m.AddTo(x, record.Window{Epoch: start, Start: start - 1e6, End: end + 1e6}); err != nil {
		t.Fatal(err)
	}
	gc := 0
	for i := range x.Slices {
		if x.Class(&x.Slices[i]) == trace.ClassGC {
			gc++
		}
	}
	if gc < 1 || gc > len(m.gc.list)-2 {
		t.Errorf("%d collections in the window of one, %d noted", gc, len(m.gc.list))
	}
}

var sink []byte

func TestUsageIsExact(t *testing.T) {
	u := new(Usage)
	u.Open()
	for range 100 {
		sink = make([]byte, 1000) // of the size class of 1024
	}
	u.Close()
	x := newTrace()
	for range 2 { // cycles add up
		if err := u.AddTo(x, record.Window{}); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, v := range x.Meta.Values {
		got[v.Key] = v.Value
	}
	if got["alloc_bytes"] != "204800" || got["alloc_objects"] != "200" {
		t.Errorf("%s bytes in %s objects, want 204800 in 200", got["alloc_bytes"], got["alloc_objects"])
	}
	if runtime.GOOS == "linux" && got["cpu_user_ns"] == "" {
		t.Errorf("values %v", got)
	}
}

func TestResidentSize(t *testing.T) {
	r, err := openResidentSize()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	defer r.close()
	before := r.read()
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	after := r.read()
	if grown := after - before; grown < 60<<20 || grown > 200<<20 {
		t.Errorf("touching 64 MiB grew the resident size by %.0f bytes (the race detector adds as much again)", grown)
	}
	runtime.KeepAlive(block)
}

func TestExecTraceIsCapped(t *testing.T) {
	c := capped{limit: 10}
	for _, s := range []string{"12345", "678901", "1"} {
		if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("writing %q: %d, %v", s, n, err)
		}
	}
	b, lost := c.bytes()
	if string(b) != "12345" || lost != 7 {
		t.Errorf("kept %q, lost %d", b, lost)
	}
}

func BenchmarkReading(b *testing.B) {
	m := &Metrics{Interval: time.Hour, Memory: true, Runtime: true}
	if err := m.Start(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.read()
	}
	m.Stop()
}

func BenchmarkTotals(b *testing.B) {
	for b.Loop() {
		readTotals()
	}
}

func BenchmarkResources(b *testing.B) {
	for b.Loop() {
		ReadResources()
	}
}

// BenchmarkAlloc is what an allocation of 512 bytes costs while each source runs.
func BenchmarkAlloc(b *testing.B) {
	loop := func(b *testing.B) {
		for b.Loop() {
			sink = make([]byte, 512)
		}
	}
	b.Run("off", loop)
	for name, s := range map[string]interface {
		Start() error
		Stop() error
	}{"heap": &Heap{}, "cpu": &CPU{}, "exectrace": &ExecTrace{}, "metrics": &Metrics{Memory: true, Runtime: true}} {
		b.Run(name, func(b *testing.B) {
			if err := s.Start(); err != nil {
				b.Skip(err)
			}
			loop(b)
			s.Stop()
		})
	}
}
