package gotrace

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"runtime/pprof"
	rtrace "runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gander-go/gander/profiler/trace"
)

// mono reads CLOCK_MONOTONIC.
func mono(t testing.TB) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Skipf("SKIPPED: no CLOCK_MONOTONIC here (%v); the clock is NOT checked", err)
	}
	return ts.Nano()
}

// spun keeps what spin counts, so that its loop is not for nothing.
var spun atomic.Int64

// spin keeps a processor busy for a while.
func spin(d time.Duration) {
	n := int64(0)
	for end := time.Now().Add(d); time.Now().Before(end); n++ {
	}
	spun.Store(n)
}

var sink [][]byte

// record runs work and returns its execution trace.
func record(t testing.TB, work func()) []byte {
	t.Helper()
	var raw bytes.Buffer
	if rtrace.IsEnabled() {
		t.Skip("SKIPPED: the test itself is being traced")
	}
	if err := rtrace.Start(&raw); err != nil {
		t.Fatal(err)
	}
	work()
	rtrace.Stop()
	return raw.Bytes()
}

func busy() {
	ctx, task := rtrace.NewTask(context.Background(), "request")
	defer task.End()
	var wg sync.WaitGroup
	c := make(chan int)
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range c {
				spin(time.Millisecond)
			}
		}()
	}
	rtrace.WithRegion(ctx, "feed", func() {
		for i := range 12 {
			c <- i
		}
		close(c)
		wg.Wait()
	})
	rtrace.Log(ctx, "note", `all "done"`)
	for range 4 {
		sink = append(sink, make([]byte, 1<<20))
	}
	runtime.GC()
	sink = nil
	time.Sleep(2 * time.Millisecond)
}

func slicesNamed(tr *trace.Trace, prefix string) (list []trace.Slice) {
	for i := range tr.Slices {
		if strings.HasPrefix(tr.Name(&tr.Slices[i]), prefix) {
			list = append(list, tr.Slices[i])
		}
	}
	return list
}

func TestReadShowsWhatRan(t *testing.T) {
	raw := record(t, busy)
	tr, err := Read(bytes.NewReader(raw), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"running", "waiting (chan receive)", "waiting (sleep)", "feed", "request", "GC concurrent mark phase", "stop-the-world"} {
		if len(slicesNamed(tr, want)) == 0 {
			t.Errorf("no slice %q", want)
		}
	}
	if now := time.Now().UnixNano(); tr.Meta.Epoch > now || tr.Meta.Epoch < now-int64(time.Hour) {
		t.Errorf("epoch %d is not the time of recording (%d now)", tr.Meta.Epoch, now)
	}
	if len(tr.Instants) != 1 || tr.Strings.Get(tr.Instants[0].Args) != `{"message":"all \"done\""}` {
		t.Errorf("log %+v", tr.Instants)
	}
	wakes := 0
	for _, f := range tr.Flows {
		if f.Kind == trace.FlowWake {
			wakes++
		}
	}
	if wakes == 0 {
		t.Error("no arrow from what unblocked a goroutine")
	}
	if len(tr.Counters) == 0 {
		t.Error("no counters")
	}
	named := false
	for _, k := range tr.Tracks {
		named = named || k.Kind == trace.TrackGoroutine && strings.Contains(k.Name, "gotrace.busy.func")
	}
	if !named {
		t.Error("no goroutine is named after the function it began with")
	}
}

// stateSums adds up the time in each state of each track of states, from slices shown alone and from those added up.
func stateSums(t *testing.T, tr *trace.Trace) map[string]int64 {
	sums := make(map[string]int64)
	for i := range tr.Slices {
		s := &tr.Slices[i]
		if tr.Class(s) != trace.ClassState || tr.Tracks[s.Track].Kind != trace.TrackOther {
			continue
		}
		if s.Kind != trace.ArgGeneric {
			sums[tr.Name(s)] += s.Dur
			continue
		}
		var args map[string]int64
		if err := json.Unmarshal([]byte(tr.Strings.Get(tr.Generics[s.Args].JSON)), &args); err != nil {
			t.Fatal(err)
		}
		for k, v := range args {
			if name, ok := strings.CutSuffix(k, " ns"); ok {
				sums[name] += v
			}
		}
	}
	return sums
}

func TestGrainKeepsTheTimeInEachState(t *testing.T) {
	raw := record(t, func() {
		a, b := make(chan int), make(chan int)
		go func() {
			for v := range a {
				b <- v
			}
			close(b)
		}()
		for i := range 2000 {
			a <- i
			<-b
		}
		close(a)
		<-b
	})
	fine, err := Read(bytes.NewReader(raw), Options{Grain: 1})
	if err != nil {
		t.Fatal(err)
	}
	coarse, err := Read(bytes.NewReader(raw), Options{Grain: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	want, got := stateSums(t, fine), stateSums(t, coarse)
	if len(want) < 3 {
		t.Fatalf("states %v", want)
	}
	for name, ns := range want {
		if got[name] != ns {
			t.Errorf("%s: %d ns added up, %d one by one", name, got[name], ns)
		}
	}
	if len(coarse.Slices)*4 > len(fine.Slices) {
		t.Errorf("%d slices with a grain of 1 ms, %d without", len(coarse.Slices), len(fine.Slices))
	}
	if err := coarse.Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestMergeIsOnTheClockOfTheTrace(t *testing.T) {
	zero := mono(t) - 5_000_000 // as if recording had begun 5 ms ago
	var before, inside, after int64
	raw := record(t, func() {
		before = mono(t) - zero
		r := rtrace.StartRegion(context.Background(), "measured")
		inside = mono(t) - zero
		spin(time.Millisecond)
		r.End()
		after = mono(t) - zero
	})
	tr := &trace.Trace{Meta: trace.Meta{Tool: "gander", PID: 77, Rank: trace.NoRank, Start: 0, End: after + 1_000_000}}
	p := tr.Process(77, "test")
	x := tr.TrackIndex()
	gc := tr.Category("gc", trace.ClassGC)
	tr.Slices = append(tr.Slices, trace.Slice{Start: 1, Dur: 2, Track: x.ID(p, trace.TrackRuntime, 1, "Garbage collector"), Name: tr.Strings.ID("GC (estimated start)"), Cat: gc})
	if err := Merge(tr, bytes.NewReader(raw), Options{MonoZero: zero}); err != nil {
		t.Fatal(err)
	}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	list := slicesNamed(tr, "measured")
	if len(list) != 1 {
		t.Fatalf("%d regions, want 1", len(list))
	}
	const grain = 10_000 // the two clocks are read one after the other
	if s := list[0]; s.Start < before-grain || s.Start > inside+grain || s.End() > after+grain || s.Dur < 500_000 {
		t.Errorf("region at %d..%d, but it began between %d and %d and ended by %d", s.Start, s.End(), before, inside, after)
	}
	if len(tr.Processes) != 1 {
		t.Errorf("processes %+v", tr.Processes)
	}
	for i := range tr.Slices {
		if s := &tr.Slices[i]; s.Start < 0 || s.End() > tr.Meta.End {
			t.Fatalf("slice %q lies outside of the window: %d..%d of %d", tr.Name(s), s.Start, s.End(), tr.Meta.End)
		}
	}
}

func TestMergeGivesSamplesTimeAndSpan(t *testing.T) {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Skipf("SKIPPED: a CPU profile is being taken already (%v)", err)
	}
	raw := record(t, func() {
		rtrace.WithRegion(context.Background(), "hot", func() { spin(300 * time.Millisecond) })
	})
	pprof.StopCPUProfile()
	tr := &trace.Trace{Meta: trace.Meta{Tool: "gander", Rank: trace.NoRank, Epoch: 1, End: 1 << 62}}
	tr.Samples = []trace.Sample{{Time: trace.NoTime, Track: trace.NoTrack, Kind: trace.SampleCPU, Weight: 80_000_000, Count: 20}}
	tr.Attachments = []trace.Attachment{{Kind: AttachmentKind, Data: raw}, {Kind: "other"}}
	MergeAttachments(tr, Options{})
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(tr.Attachments) != 1 || len(tr.Problems) != 0 {
		t.Fatalf("attachments %v, problems %v", tr.Attachments, tr.Problems)
	}
	hot := 0
	for _, s := range tr.Samples {
		if s.Time == trace.NoTime || s.Weight != 4_000_000 {
			t.Fatalf("sample %+v", s)
		}
		if tr.Strings.Get(s.Span) == "hot" {
			hot++
		}
	}
	if hot == 0 {
		t.Errorf("none of %d samples lies in the region", len(tr.Samples))
	}
}

func TestBrokenInput(t *testing.T) {
	raw := record(t, busy)
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"empty", nil, "reading execution trace"},
		{"text", []byte("go 1.99 nonsense"), "reading execution trace"},
		{"head only", raw[:16], "holds no events"},
	} {
		if _, err := Read(bytes.NewReader(c.in), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	tr := &trace.Trace{Attachments: []trace.Attachment{{Kind: AttachmentKind, Data: []byte("junk")}}}
	MergeAttachments(tr, Options{})
	if len(tr.Problems) != 1 || tr.Problems[0].Kind != "exec-trace" {
		t.Errorf("problems %+v", tr.Problems)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(record(f, busy))
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tr, err := Read(bytes.NewReader(raw), Options{})
		if err == nil {
			if err := tr.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	raw := record(b, func() {
		for range 50 {
			busy()
		}
	})
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(raw), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Waiting for a mutex is told from waiting for a group: the runtime calls both "sync".
func TestWaitsForLocks(t *testing.T) {
	raw := record(t, func() {
		var mu sync.Mutex
		var rw sync.RWMutex
		var wg sync.WaitGroup
		mu.Lock()
		rw.Lock()
		wg.Go(func() { mu.Lock(); defer mu.Unlock() })
		wg.Go(func() { rw.RLock(); defer rw.RUnlock() })
		time.Sleep(5 * time.Millisecond)
		mu.Unlock()
		rw.Unlock()
		wg.Wait()
		wg.Go(func() { time.Sleep(5 * time.Millisecond) })
		wg.Wait()
	})
	tr, err := Read(bytes.NewReader(raw), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"waiting (sync.(*Mutex).Lock)", "waiting (sync.(*RWMutex).RLock)", "waiting (sync.(*WaitGroup).Wait)"} {
		list := slicesNamed(tr, want)
		longest := int64(0)
		for _, s := range list {
			longest = max(longest, s.Dur)
		}
		if longest < int64(3*time.Millisecond) {
			t.Errorf("%q: %d times, at most %d ns", want, len(list), longest)
		}
	}
}
