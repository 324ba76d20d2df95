package record

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

// built stops r and returns its trace, which must be valid.
func built(t testing.TB, r *Recorder) *trace.Trace {
	t.Helper()
	r.Stop()
	return look(t, r)
}

// look returns the trace of r as it is now.
func look(t testing.TB, r *Recorder) *trace.Trace {
	t.Helper()
	from, _ := r.Window()
	x := new(trace.Trace)
	x.Category("", trace.ClassOther)
	r.AddTo(x, from)
	x.Sort()
	x.Bind()
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	return x
}

func spanNames(x *trace.Trace) (list []string) {
	for i := range x.Slices {
		list = append(list, x.Name(&x.Slices[i]))
	}
	return list
}

func problem(x *trace.Trace, kind string) int64 {
	for _, p := range x.Problems {
		if p.Kind == kind {
			return p.Count
		}
	}
	return 0
}

// TestHotPathDoesNotAllocate is the budget of the hot path.
func TestHotPathDoesNotAllocate(t *testing.T) {
	dynamic := strings.Repeat("x", 20)
	op := func() {
		BeginOp("matmul", &Op{Shapes: [][]int{{64, 32}, {32, 16}}, Types: []string{"float64", "float64"}, FLOPs: 1, Bytes: 2}).End()
	}
	calls := map[string]func(){
		"span":     func() { Begin("forward").End() },
		"deferred": func() { defer Begin("forward").End() },
		"dynamic":  func() { Begin(dynamic[:10+len(dynamic)%7]).End() },
		"call":     func() { BeginCall("main.work").End() },
		"operator": op,
	}
	measure := func(t *testing.T) {
		for name, f := range calls {
			f() // the shard's chunk and the name are made once
			if n := testing.AllocsPerRun(500, f); n != 0 {
				t.Errorf("%s: %v allocations, want none", name, n)
			}
		}
	}
	t.Run("off", measure)
	t.Run("on", func(t *testing.T) {
		recording(t, Config{Shapes: true, FLOPs: true})
		measure(t)
	})
	t.Run("stacks", func(t *testing.T) {
		recording(t, Config{Stacks: true})
		measure(t)
	})
}

func TestEventIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(event{}); n != 32 {
		t.Errorf("an event takes %d bytes, want 32", n)
	}
	if n := unsafe.Sizeof(chunk{}); n != 32<<10 {
		t.Errorf("a chunk takes %d bytes, want a size class: 32 KiB", n)
	}
	if n := unsafe.Sizeof(shard{}); n != 128 {
		t.Errorf("a shard takes %d bytes, want two cache lines", n)
	}
}

func TestSpansNest(t *testing.T) {
	r := recording(t, Config{})
	a := Begin("a")
	b := Begin("b")
	Begin("c").End()
	Begin("d").End()
	b.End()
	e := Begin("e")
	e.End()
	a.End()
	x := built(t, r)
	if got := fmt.Sprint(spanNames(x)); got != "[a b c d e]" {
		t.Fatalf("spans in order: %s", got)
	}
	s := x.Slices
	parent := []int{-1, 0, 1, 1, 0}
	for i := range s {
		if s[i].Flags != 0 {
			t.Errorf("%s has flags %b", x.Name(&s[i]), s[i].Flags)
		}
		if p := parent[i]; p >= 0 && (s[i].Start < s[p].Start || s[i].End() > s[p].End()) {
			t.Errorf("%s [%d %d] does not lie in %s [%d %d]", x.Name(&s[i]), s[i].Start, s[i].End(), x.Name(&s[p]), s[p].Start, s[p].End())
		}
	}
	if s[2].End() > s[3].Start || s[1].End() > s[4].Start {
		t.Error("siblings overlap")
	}
	if k := x.Tracks[s[0].Track]; k.Kind != trace.TrackGoroutine || k.ID != slowID() {
		t.Errorf("track %+v, want goroutine %d", k, slowID())
	}
	if x.Class(&s[0]) != trace.ClassAnnotation {
		t.Errorf("class %d", x.Class(&s[0]))
	}
}

// TestDurations compares spans with what the monotonic clock says about the same stretch of code.
func TestDurations(t *testing.T) {
	r := recording(t, Config{})
	var before, after [3]time.Time
	for i, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
		s := Begin("sleep")
		before[i] = time.Now()
		time.Sleep(d)
		after[i] = time.Now()
		s.End()
	}
	x := built(t, r)
	from, _ := r.Window()
	for i := range before {
		s := &x.Slices[i]
		inner := after[i].Sub(before[i]).Nanoseconds()
		// The span encloses the readings; it may not be shorter, but for the clocks' disagreement: below 20 parts in
		// a million after 50 ms, and the resolution of a reading.
		if slack := int64(200) + inner/50_000; s.Dur < inner-slack {
			t.Errorf("span %d takes %d ns, but %d ns passed in it", i, s.Dur, inner)
		}
		if at := int64(before[i].Sub(base)) - from; s.Start > at+1000 {
			t.Errorf("span %d starts at %d, after the %d that follows its Begin", i, s.Start, at)
		}
		if at := int64(after[i].Sub(base)) - from; s.End() < at-1000-at/50_000 {
			t.Errorf("span %d ends at %d, before the %d that precedes its End", i, s.End(), at)
		}
	}
}

func TestUnfinished(t *testing.T) {
	r := recording(t, Config{})
	late := Begin("late")
	Begin("done").End()
	x := built(t, r)
	_, end := r.Window()
	from, _ := r.Window()
	s := &x.Slices[0]
	if x.Name(s) != "late" || s.Flags != trace.FlagUnfinished || s.End() != end-from {
		t.Errorf("%q has flags %b and ends at %d of %d", x.Name(s), s.Flags, s.End(), end-from)
	}
	late.End() // after Stop: the end lies past the window
	x = look(t, r)
	if s := &x.Slices[0]; s.Flags != trace.FlagUnfinished || s.End() != end-from {
		t.Errorf("after a late End: flags %b, end %d of %d", s.Flags, s.End(), end-from)
	}
}

func TestEndElsewhere(t *testing.T) {
	r := recording(t, Config{})
	s := Begin("handed over")
	me := slowID()
	done := make(chan int64)
	go func() {
		Begin("there").End()
		s.End()
		done <- slowID()
	}()
	other := <-done
	x := built(t, r)
	for i := range x.Slices {
		s := &x.Slices[i]
		want, id := trace.FlagAsync, me
		if x.Name(s) == "there" {
			want, id = 0, other
		}
		if s.Flags != want || x.Tracks[s.Track].ID != id {
			t.Errorf("%s: flags %b on goroutine %d, want %b on %d", x.Name(s), s.Flags, x.Tracks[s.Track].ID, want, id)
		}
	}
}

func TestOverlapIsAsync(t *testing.T) {
	r := recording(t, Config{})
	a := Begin("a")
	time.Sleep(time.Millisecond)
	b := Begin("b")
	time.Sleep(time.Millisecond)
	a.End()
	Begin("c").End()
	time.Sleep(time.Millisecond)
	b.End()
	x := built(t, r)
	for i, want := range []trace.SliceFlags{0, trace.FlagAsync, 0} {
		if x.Slices[i].Flags != want {
			t.Errorf("%s has flags %b, want %b", x.Name(&x.Slices[i]), x.Slices[i].Flags, want)
		}
	}
	if d := x.Slices[1].Dur; d < int64(2*time.Millisecond) {
		t.Errorf("the overlapping span was cut to %d ns", d)
	}
}

func TestSecondEndDoesNothing(t *testing.T) {
	r := recording(t, Config{})
	s := Begin("once")
	s.End()
	first := look(t, r).Slices[0].Dur
	time.Sleep(2 * time.Millisecond)
	s.End()
	if d := built(t, r).Slices[0].Dur; d > first+int64(time.Millisecond) {
		t.Errorf("the second End moved the end from %d to %d", first, d)
	}
}

func TestNothingRecordsWhenOff(t *testing.T) {
	s := Begin("before")
	if s.Recording() || Active() {
		t.Error("recording without a recorder")
	}
	r := recording(t, Config{})
	s.End()
	r.Stop()
	Begin("after").End()
	Counter("x", "count", 1)
	Mark("x")
	if x := look(t, r); len(x.Slices)+len(x.Counters)+len(x.Instants) != 0 {
		t.Errorf("recorded %v", spanNames(x))
	}
}

func TestOneRecorderAtATime(t *testing.T) {
	r := recording(t, Config{})
	if err := New(Config{}).Start(); err == nil {
		t.Error("a second recorder started")
	}
	if err := r.Start(); err != nil {
		t.Errorf("starting the active recorder: %v", err)
	}
	r.Stop()
	r.Stop()
	q := New(Config{})
	if err := q.Start(); err != nil {
		t.Error(err)
	}
	r.Stop() // not the active one
	if !Active() {
		t.Error("stopping one recorder stopped another")
	}
	q.Stop()
}

func TestRestartAddsUp(t *testing.T) {
	r := recording(t, Config{})
	Begin("first").End()
	r.Stop()
	Begin("between").End()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	Begin("second").End()
	if got := fmt.Sprint(spanNames(built(t, r))); got != "[first second]" {
		t.Errorf("spans: %s", got)
	}
}

func TestDropsAreCounted(t *testing.T) {
	const n = 20_000
	r := recording(t, Config{MaxEvents: 5000})
	for range n {
		Begin("x").End()
	}
	x := built(t, r)
	kept, dropped := int64(len(x.Slices)), problem(x, "dropped-spans")
	if kept+dropped != n {
		t.Errorf("%d kept and %d dropped of %d", kept, dropped, n)
	}
	if kept < 5000 || kept > 5000+2*chunkLen {
		t.Errorf("%d kept with a limit of 5000", kept)
	}
}

// TestLateGoroutinesHaveRoom: a goroutine that floods the recorder must not keep others out altogether.
func TestLateGoroutinesHaveRoom(t *testing.T) {
	r := recording(t, Config{MaxEvents: 2000})
	for range 10_000 {
		Begin("flood").End()
	}
	mine := slowID() % shardCount
	for range 2 * shardCount { // at least one of them is on another shard
		done := make(chan bool)
		go func() { Begin("late").End(); close(done) }()
		<-done
	}
	late := 0
	for _, n := range spanNames(built(t, r)) {
		if n == "late" {
			late++
		}
	}
	if late < shardCount {
		t.Errorf("%d spans of %d late goroutines are kept; the flood is on shard %d", late, 2*shardCount, mine)
	}
}

func TestConcurrentSpansAndSnapshots(t *testing.T) {
	const goroutines, each = 500, 400
	r := recording(t, Config{})
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				look(t, r)
				runtime.Gosched()
			}
		}
	})
	for range goroutines {
		writers.Go(func() {
			for range each {
				a := Begin("outer")
				b := Begin("inner")
				b.End()
				a.End()
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	x := built(t, r)
	if n := len(x.Slices); n != 2*goroutines*each {
		t.Fatalf("%d spans of %d", n, 2*goroutines*each)
	}
	if n := len(x.Tracks); n != goroutines {
		t.Errorf("%d tracks for %d goroutines", n, goroutines)
	}
	for i := 0; i < len(x.Slices); i += 2 {
		a, b := &x.Slices[i], &x.Slices[i+1]
		if a.Flags|b.Flags != 0 || a.Track != b.Track || a.End() < b.End() || x.Name(a) != "outer" || x.Name(b) != "inner" {
			t.Fatalf("spans %d: %s %+v and %s %+v", i, x.Name(a), a, x.Name(b), b)
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	const n = 100_000
	r := recording(t, Config{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { Begin("x").End() })
	}
	wg.Wait()
	x := built(t, r)
	if len(x.Slices) != n || len(x.Tracks) != n {
		t.Errorf("%d spans on %d tracks, want %d each", len(x.Slices), len(x.Tracks), n)
	}
}

func TestExitMidway(t *testing.T) {
	r := recording(t, Config{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer Begin("closed by defer").End()
		Begin("left open")
		runtime.Goexit()
	}()
	<-done
	func() {
		defer func() { recover() }()
		defer Begin("panics").End()
		panic("x")
	}()
	x := built(t, r)
	flags := map[string]trace.SliceFlags{}
	for i := range x.Slices {
		flags[x.Name(&x.Slices[i])] = x.Slices[i].Flags
	}
	if flags["closed by defer"] != 0 || flags["panics"] != 0 || flags["left open"]&trace.FlagUnfinished == 0 || len(flags) != 3 {
		t.Errorf("flags: %v", flags)
	}
}
