package profiler

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// number returns a value of the trace's metadata.
func number(t testing.TB, x *trace.Trace, key string) int64 {
	t.Helper()
	for _, v := range x.Meta.Values {
		if v.Key == key {
			n, err := strconv.ParseInt(v.Value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the trace says nothing about %s", key)
	return 0
}

func row(t testing.TB, a Averages, key string) *analyze.Average {
	t.Helper()
	for i := range a.Rows {
		if a.Rows[i].Key == key {
			return &a.Rows[i]
		}
	}
	t.Fatalf("no row %q", key)
	return nil
}

// TestTruth profiles a program whose calls, durations, allocations and collections are known.
func TestTruth(t *testing.T) {
	const inner, outer = 7, 3
	var slept time.Duration
	p := start(t, Options{ProfileMemory: true})
	for range outer {
		Record("outer", func() {
			for range inner {
				s := Begin("inner")
				from := time.Now()
				time.Sleep(2 * time.Millisecond)
				slept += time.Since(from)
				s.End()
			}
		})
	}
	p.Stop()
	x := p.Trace()
	valid(t, x)
	a := p.KeyAverages()
	in, out := row(t, a, "inner"), row(t, a, "outer")
	if in.Count != inner*outer || out.Count != outer {
		t.Errorf("%d inner and %d outer calls, want %d and %d", in.Count, out.Count, inner*outer, outer)
	}
	// Spans enclose the readings of the other clock: their sum cannot be smaller (but for 20 parts in a million by
	// which the two clocks may differ), and the difference is what Begin, End and the readings take.
	if low := slept.Nanoseconds() - slept.Nanoseconds()/50_000 - 1000; in.CPUTotal < low {
		t.Errorf("inner took %d ns, at least %d passed in it", in.CPUTotal, low)
	}
	if in.SelfCPU != in.CPUTotal {
		t.Errorf("inner calls nothing but has self time %d of %d", in.SelfCPU, in.CPUTotal)
	}
	if out.SelfCPU != out.CPUTotal-in.CPUTotal {
		t.Errorf("outer's self time is %d, want %d-%d", out.SelfCPU, out.CPUTotal, in.CPUTotal)
	}
	if end := x.Meta.End; out.CPUTotal > end {
		t.Errorf("outer took %d ns of a recording of %d", out.CPUTotal, end)
	}
}

var sink [][]byte

// TestTruthOfAllocations: exact totals of the runtime, with what recording itself allocates meanwhile: a chunk of 32 KiB
// for each shard in use and a few series.
func TestTruthOfAllocations(t *testing.T) {
	const objects, size = 1000, 4096
	sink = make([][]byte, objects)
	p := start(t, Options{Activities: CPU})
	for i := range sink {
		sink[i] = make([]byte, size)
	}
	p.Stop()
	sink = nil
	got, n := number(t, p.Trace(), "alloc_bytes"), number(t, p.Trace(), "alloc_objects")
	if over := got - objects*size; over < 0 || over > 200<<10 {
		t.Errorf("%d bytes allocated, want %d and at most 200 KiB of the recording's own", got, objects*size)
	}
	if over := n - objects; over < 0 || over > 200 {
		t.Errorf("%d objects allocated, want %d and at most 200 of the recording's own", n, objects)
	}
}

func TestTruthOfCollections(t *testing.T) {
	const n = 5
	p := start(t, Options{Activities: CPU | Go | Memory})
	var windows [n][2]int64 // of each collection, on the wall clock
	for i := range windows {
		windows[i][0] = time.Now().UnixNano()
		runtime.GC()
		windows[i][1] = time.Now().UnixNano()
	}
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if got := number(t, x, "gc_cycles"); got < n || got > n+2 {
		t.Errorf("%d collections, %d were forced", got, n)
	}
	var ends []int64
	var paused int64
	for i := range x.Slices {
		switch s := &x.Slices[i]; x.Class(s) {
		case trace.ClassGC:
			ends = append(ends, s.End()+x.Meta.Epoch)
		case trace.ClassSTW:
			paused += s.Dur
		}
	}
	for _, w := range windows {
		hit := false
		for _, e := range ends {
			// The runtime notes the end by the wall clock, whose distance to the monotonic one can drift.
			hit = hit || e >= w[0]-int64(time.Millisecond) && e <= w[1]+int64(time.Millisecond)
		}
		if !hit {
			t.Errorf("no collection ends between %d and %d: %v", w[0], w[1], ends)
		}
	}
	// The pauses of a collection include those outside its two phases in neither figure.
	if total := number(t, x, "gc_pause_ns"); paused <= 0 || paused > total {
		t.Errorf("slices of %d ns in which the world is stopped, the runtime counts %d", paused, total)
	}
	for _, c := range x.Counters {
		if len(c.Times) < 2 {
			t.Errorf("counter %q has %d values", c.Name, len(c.Times))
		}
		for i, v := range c.Values {
			if (c.Name == "Go heap" || c.Name == "Goroutines" || c.Name == "Resident size") && v <= 0 {
				t.Errorf("%s is %v at %d", c.Name, v, c.Times[i])
			}
		}
	}
}

func TestTruthOfReportedMemory(t *testing.T) {
	p := start(t, Options{ProfileMemory: true})
	base := int64(-1)
	var pool [][]float64
	Record("fill", func() {
		for i := range 10 {
			pool = append(pool, AllocSlice("tensor", make([]float64, 100*(i+1))))
		}
	})
	Record("drain", func() {
		for _, s := range pool {
			FreeSlice(s)
		}
	})
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if len(x.Memory) != 20 {
		t.Fatalf("%d events, want 20", len(x.Memory))
	}
	base = x.Memory[0].Allocated - x.Memory[0].Bytes
	want := int64(0)
	for i, m := range x.Memory {
		n := int64(8 * 100 * (i%10 + 1))
		if i >= 10 {
			n = -n
		}
		want += n
		if m.Bytes != n || m.Allocated-base != want {
			t.Errorf("event %d: %d bytes, %d in use; want %d and %d", i, m.Bytes, m.Allocated-base, n, want)
		}
	}
	a := p.KeyAverages()
	if got := row(t, a, "fill").CPUMemory; got != 8*100*55 {
		t.Errorf("fill allocated %d bytes, want %d", got, 8*100*55)
	}
	if got := row(t, a, "drain").CPUMemory; got != -8*100*55 {
		t.Errorf("drain allocated %d bytes, want %d", got, -8*100*55)
	}
}

// burn keeps a processor busy for about d of wall time.
//
//go:noinline
func burn(d time.Duration) (n int) {
	for from := time.Now(); time.Since(from) < d; {
		for range 1000 {
			n++
		}
	}
	return n
}

// TestSamplesBelongToSpans: every sample that shows burn was taken in the span around it, also in a goroutine that was
// started there.
func TestSamplesBelongToSpans(t *testing.T) {
	p := start(t, Options{Activities: CPU, SampleHz: 100})
	if n := problemCount(p.traceOrWarnings(), "source-CPU-samples"); n > 0 {
		t.Skip("SKIPPED: the CPU profile is in use (go test -cpuprofile)")
	}
	Record("left", func() { burn(150 * time.Millisecond) })
	Record("right", func() {
		done := make(chan bool)
		go func() { burn(150 * time.Millisecond); close(done) }()
		<-done
	})
	p.Stop()
	x := p.Trace()
	valid(t, x)
	count := map[string]int64{}
	for i := range x.Samples {
		s := &x.Samples[i]
		if s.Kind != trace.SampleCPU || !stackHas(x, s.Stack, ".burn") {
			continue
		}
		count[x.Strings.Get(s.Span)] += s.Count
		if s.Weight != s.Count*int64(10*time.Millisecond) {
			t.Errorf("%d samples weigh %d ns at 100 Hz", s.Count, s.Weight)
		}
	}
	if len(x.Samples) == 0 {
		t.Skip("SKIPPED: the machine took no CPU samples")
	}
	if count["left"] == 0 || count["right"] == 0 || len(count) != 2 {
		t.Errorf("samples of burn by span: %v", count)
	}
}

// traceOrWarnings is what is known about failed sources while the profile runs.
func (p *Profile) traceOrWarnings() *trace.Trace {
	x := new(trace.Trace)
	if p.cycle != nil {
		x.Problems = p.cycle.problems
	}
	return x
}

func stackHas(x *trace.Trace, id trace.StackID, suffix string) bool {
	for ; id != 0; id = x.Stacks[id].Parent {
		if strings.HasSuffix(x.Strings.Get(x.Frames[x.Stacks[id].Frame].Func), suffix) {
			return true
		}
	}
	return false
}

//go:noinline
func allocateHere(n int) {
	for range n {
		sink = append(sink, make([]byte, 64<<10))
	}
}

func TestHeapByStack(t *testing.T) {
	p := start(t, Options{Activities: CPU | Memory, ProfileMemory: true, WithStack: true})
	allocateHere(200)
	p.Stop()
	sink = nil
	x := p.Trace()
	valid(t, x)
	var bytes int64
	for i := range x.Samples {
		if s := &x.Samples[i]; s.Kind == trace.SampleAlloc && stackHas(x, s.Stack, ".allocateHere") {
			bytes += s.Weight
		}
	}
	// 200 objects of the sampling rate's own size: each is seen with probability 63%, so 20% is four deviations.
	if want := int64(200 * 64 << 10); bytes < want*8/10 || bytes > want*12/10 {
		t.Errorf("%d bytes were allocated there, want %d within 20%%", bytes, want)
	}
}

func TestExecutionTraceIsAttached(t *testing.T) {
	p := start(t, Options{Activities: CPU, Sched: true})
	done := make(chan bool)
	go func() { close(done) }()
	<-done
	p.Stop()
	x := p.Trace()
	if problemCount(x, "source-execution-trace") > 0 {
		t.Skip("SKIPPED: the program is being traced (go test -trace)")
	}
	if len(x.Attachments) != 1 || !bytes.HasPrefix(x.Attachments[0].Data, []byte("go 1.")) {
		t.Fatalf("%d attachments", len(x.Attachments))
	}
}

func TestStored(t *testing.T) {
	p := start(t, Options{RecordShapes: true, WithFLOPs: true, ProfileMemory: true, Metadata: map[string]string{"note": "a \"b\"", "n": "17"}})
	BeginOp("matmul", &Op{Shapes: [][]int{{2, 3}, {3, 4}}, FLOPs: 48, Bytes: 208}).End()
	Mark("here")
	Counter("loss", "", 0.5)
	p.Stop()
	dir := t.TempDir()
	path := filepath.Join(dir, "p.gander")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := p.WriteTo(f)
	if info, e := f.Stat(); err != nil || e != nil || info.Size() != n {
		t.Fatalf("%d bytes written: %v", n, err)
	}
	f.Close()
	q := MustLoad(path)
	var a, b bytes.Buffer
	if trace.Dump(&a, p.Trace()) != nil || trace.Dump(&b, q.Trace()) != nil || a.String() != b.String() {
		t.Errorf("the stored profile differs:\n%s\n%s", a.String(), b.String())
	}
	if !strings.Contains(a.String(), `value note = "a \"b\""`) || !strings.Contains(a.String(), "value n = 17\n") {
		t.Errorf("metadata: %s", a.String())
	}
	q.Stop()
	q.Step()
	if _, err := Load(filepath.Join(dir, "nothing")); err == nil {
		t.Error("loaded nothing")
	}
}

func TestExports(t *testing.T) {
	p := start(t, Options{RecordShapes: true, WithFLOPs: true})
	Record("outer", func() { BeginOp("matmul", &Op{Shapes: [][]int{{2, 3}, {3, 4}}, FLOPs: 48}).End() })
	p.Stop()
	dir := t.TempDir()
	for range 2 { // as often as wanted
		if err := p.ExportChromeTrace(filepath.Join(dir, "t.json.gz")); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "t.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	x, err := kineto.Read(z, kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for i := range x.Slices {
		got[x.Name(&x.Slices[i])] = x.Slices[i].Dur
	}
	for i := range p.Trace().Slices {
		s := &p.Trace().Slices[i]
		if d, ok := got[p.Trace().Name(s)]; !ok || d != s.Dur {
			t.Errorf("%s takes %d ns in the export, want %d", p.Trace().Name(s), d, s.Dur)
		}
	}
	path, err := p.ExportTensorBoard(filepath.Join(dir, "tb"), "worker0")
	if err != nil || !strings.HasPrefix(filepath.Base(path), "worker0.") || !strings.HasSuffix(path, ".pt.trace.json.gz") {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := p.ExportTensorBoard(dir, "../x"); err == nil {
		t.Error("a worker with a path was accepted")
	}
	if err := p.ExportPprof(filepath.Join(dir, "p")); err == nil {
		t.Error("exported a profile without samples")
	}
	if err := p.ExportChromeTrace(filepath.Join(dir, "no", "dir", "t.json")); err == nil {
		t.Error("exported into a folder that is not there")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestOptionsAsJSON(t *testing.T) {
	for _, o := range []Options{
		{},
		{Activities: CPU | Memory, RecordShapes: true, SampleHz: 99, Sched: true, Schedule: Schedule{Wait: 1, Warmup: 2, Active: 3, Repeat: 4, SkipFirst: 5, SkipFirstWait: 6}, AccEvents: true, MaxEvents: 5},
	} {
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var back Options
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s became %s", b, again)
		}
	}
	for text, want := range map[string]Activity{"": 0, "cpu": CPU, " CPU , mem": CPU | Memory, "go,memory,cuda": Go | Memory | CUDA, "gpu": CUDA} {
		if a, err := ParseActivities(text); err != nil || a != want {
			t.Errorf("ParseActivities(%q) = %v, %v", text, a, err)
		}
	}
	if _, err := ParseActivities("cpu,npu"); err == nil || !strings.Contains(err.Error(), `"npu"`) {
		t.Errorf("unknown activity: %v", err)
	}
}

func TestStepsCarryUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the operating system's counts are read on Linux only")
	}
	p := start(t, Options{Schedule: Schedule{Warmup: 1, Active: 2, Repeat: 1}})
	p.Step()
	burn(20 * time.Millisecond)
	p.Step()
	time.Sleep(20 * time.Millisecond)
	p.Step()
	p.Stop()
	x := p.Trace()
	valid(t, x)
	var cpu []int64
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Class(s) != trace.ClassStep {
			continue
		}
		var used map[string]int64
		if err := json.Unmarshal([]byte(x.Strings.Get(x.Ops[s.Args].Extra)), &used); err != nil {
			t.Fatalf("%s: %v", x.Name(s), err)
		}
		cpu = append(cpu, used["CPU user ns"]+used["CPU system ns"])
	}
	// Busy for 20 ms of wall time, of which a loaded machine may give a part to others; asleep for as long.
	if len(cpu) != 2 || cpu[0] <= 0 || cpu[1] >= cpu[0] {
		t.Errorf("CPU time of the steps: %v", cpu)
	}
}

// BenchmarkStop is the time from the end of a million spans to a trace that can be read.
func BenchmarkStop(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		p := start(b, Options{})
		for range 500_000 {
			outer := Begin("outer")
			Begin("inner").End()
			outer.End()
		}
		b.StartTimer()
		p.Stop()
		if n := len(p.Trace().Slices); n < 1_000_000 {
			b.Fatalf("%d spans", n)
		}
	}
}

// BenchmarkEmpty is what starting and stopping a profile costs, with what runs by default.
func BenchmarkEmpty(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		start(b, Options{}).Stop()
	}
}
