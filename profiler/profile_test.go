package profiler

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// start starts a profile that the test's end stops.
func start(t testing.TB, o Options) *Profile {
	t.Helper()
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// spans returns the names of the host spans of x in order of track and time.
func spans(x *trace.Trace) (list []string) {
	for i := range x.Slices {
		if s := &x.Slices[i]; x.Tracks[s.Track].Kind == trace.TrackGoroutine {
			list = append(list, x.Name(s))
		}
	}
	return list
}

func valid(t testing.TB, x *trace.Trace) {
	t.Helper()
	if err := x.Validate(); err != nil {
		t.Error(err)
	}
	if n := problemCount(x, "invalid-trace"); n > 0 {
		t.Errorf("problems: %+v", x.Problems)
	}
}

func problemCount(x *trace.Trace, kind string) int64 {
	for _, p := range x.Problems {
		if p.Kind == kind {
			return p.Count
		}
	}
	return 0
}

func TestWithoutSchedule(t *testing.T) {
	ready := 0
	p := start(t, Options{OnTraceReady: func(*Profile) { ready++ }})
	Record("a", func() { Begin("b").End() })
	p.Step()
	Begin("c").End()
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if got := strings.Join(spans(x), " "); got != "a b c" {
		t.Errorf("spans %q: steps must not show without a schedule", got)
	}
	if ready != 1 || p.Cycles() != 1 || Recording() || Current() != nil {
		t.Errorf("%d ready, %d cycles, recording %v", ready, p.Cycles(), Recording())
	}
	if x.Meta.Tool != "gander" || x.Meta.Epoch == 0 || x.Meta.End <= 0 || runtime.GOOS == "linux" && x.MonoZero() == 0 {
		t.Errorf("meta %+v", x.Meta)
	}
	p.Stop()
	if ready != 1 {
		t.Error("the second Stop did something")
	}
}

func TestCycles(t *testing.T) {
	type cycle struct {
		step  int
		spans string
	}
	var got []cycle
	p := start(t, Options{
		Schedule:     Schedule{Wait: 1, Warmup: 1, Active: 2, Repeat: 2, SkipFirst: 1},
		OnTraceReady: func(p *Profile) { got = append(got, cycle{p.StepNum(), strings.Join(spans(p.Trace()), " ")}) },
	})
	for i := range 12 {
		Begin(fmt.Sprint("work", i)).End()
		p.Step()
	}
	p.Stop()
	want := []cycle{
		{5, "ProfilerStep#3 work3 ProfilerStep#4 work4"},
		{9, "ProfilerStep#7 work7 ProfilerStep#8 work8"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("cycles %+v, want %+v", got, want)
	}
	valid(t, p.Trace())
	for i := range p.Trace().Slices {
		s := &p.Trace().Slices[i]
		if strings.HasPrefix(p.Trace().Name(s), "ProfilerStep") && p.Trace().Class(s) != trace.ClassStep {
			t.Errorf("%s has class %d", p.Trace().Name(s), p.Trace().Class(s))
		}
	}
}

func TestPartialCycleIsDelivered(t *testing.T) {
	ready := ""
	p := start(t, Options{
		Schedule:     Schedule{Warmup: 1, Active: 3},
		OnTraceReady: func(p *Profile) { ready += fmt.Sprint(p.StepNum(), " ", strings.Join(spans(p.Trace()), " ")) },
	})
	p.Step()
	p.Step()
	p.Stop()
	if ready != "2 ProfilerStep#1 ProfilerStep#2" {
		t.Errorf("delivered %q", ready)
	}
}

// With WholeCycles the report is of steps that ended, and says that there were others; the only cycle is kept whatever became of it.
func TestWholeCycles(t *testing.T) {
	for _, c := range []struct{ steps, want, told int }{{5, 2, 0}, {8, 2, 1}, {1, 1, 0}} {
		p, err := Start(Options{Activities: CPU, WholeCycles: true, Schedule: Schedule{Warmup: 1, Active: 2}})
		if err != nil {
			t.Fatal(err)
		}
		for range c.steps {
			Record("work", func() {})
			p.Step()
		}
		p.Stop()
		steps, told := 0, 0
		for i := range p.Trace().Slices {
			if s := &p.Trace().Slices[i]; p.Trace().Class(s) == trace.ClassStep {
				steps++
			}
		}
		for _, q := range p.Trace().Problems {
			if strings.Contains(q.Text, "Earlier cycles") {
				told = int(q.Count)
			}
		}
		if steps != c.want || told != c.told {
			t.Errorf("after %d steps the trace holds %d and tells of %d earlier cycles, want %d and %d", c.steps, steps, told, c.want, c.told)
		}
	}
}

func TestAccumulation(t *testing.T) {
	pr := newProbe(t)
	var counts []int
	p := start(t, Options{
		Activities: CPU | probeActivity, AccEvents: true, Schedule: Schedule{Wait: 1, Warmup: 1, Active: 1, Repeat: 3},
		OnTraceReady: func(p *Profile) { counts = append(counts, len(spans(p.Trace()))) },
	})
	var first *trace.Trace
	for i := range 9 {
		Begin(fmt.Sprint("work", i)).End()
		p.Step()
		if first == nil && p.Cycles() == 1 {
			first = p.Trace()
		}
	}
	p.Stop()
	if !slices.Equal(counts, []int{2, 4, 6}) {
		t.Errorf("spans after each cycle: %v", counts)
	}
	x := p.Trace()
	valid(t, x)
	if got := strings.Join(spans(x), " "); got != "ProfilerStep#2 work2 ProfilerStep#5 work5 ProfilerStep#8 work8" {
		t.Errorf("spans %q", got)
	}
	for _, c := range x.Counters {
		if c.Name == "probe" && (len(c.Times) != 3 || c.Times[2] <= c.Times[1] || c.Times[1] <= c.Times[0]) {
			t.Errorf("the source's values lie at %v", c.Times)
		}
	}
	valid(t, first)
	if n := len(spans(first)); n != 2 {
		t.Errorf("the first cycle's trace has %d spans now", n)
	}
	if got := pr.take(); got != "prepare open stop prepare open stop prepare open stop" {
		t.Errorf("heard %q", got)
	}
}

func TestSecondStartIsRefused(t *testing.T) {
	p := start(t, Options{})
	_, err := Start(Options{})
	if err == nil || !strings.Contains(err.Error(), "profile_test.go:") || !strings.Contains(err.Error(), "under way") {
		t.Errorf("the second Start: %v", err)
	}
	Begin("still recorded").End()
	p.Stop()
	if got := spans(p.Trace()); len(got) != 1 {
		t.Errorf("spans %q", got)
	}
	start(t, Options{}).Stop()
}

func TestNeverStepped(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		text string
	}{
		{Schedule{Wait: 1, Warmup: 1, Active: 1}, "never reached an active step"},
		{Schedule{Warmup: 1, Active: 1}, "during the warmup"},
	} {
		p := start(t, Options{Schedule: c.s, OnTraceReady: func(*Profile) { t.Error("nothing is ready") }})
		Begin("x").End()
		p.Stop()
		x := p.Trace()
		valid(t, x)
		found := ""
		for _, q := range x.Problems {
			found += q.Text
		}
		if len(spans(x)) != 0 || !strings.Contains(found, c.text) {
			t.Errorf("%+v: spans %q, problems %q", c.s, spans(x), found)
		}
		if p.KeyAverages().Rows == nil && len(p.KeyAverages().Rows) != 0 {
			t.Error("averages of nothing")
		}
	}
}

func TestHandlerPanics(t *testing.T) {
	p := start(t, Options{
		Schedule:     Schedule{Warmup: 1, Active: 1},
		OnTraceReady: func(p *Profile) { panic(fmt.Sprint("cycle ", p.Cycles())) },
	})
	caught := ""
	for range 4 {
		func() {
			defer func() {
				if r := recover(); r != nil {
					caught += fmt.Sprint(r, ";")
				}
			}()
			Begin("work").End()
			p.Step()
		}()
	}
	if caught != "cycle 1;cycle 2;" {
		t.Errorf("caught %q", caught)
	}
	p.Stop()
	if p.Cycles() != 2 || Recording() || Current() != nil {
		t.Errorf("%d cycles, recording %v", p.Cycles(), Recording())
	}
	valid(t, p.Trace())
}

func TestHandlerPanicsInStop(t *testing.T) {
	p := start(t, Options{OnTraceReady: func(*Profile) { panic("x") }})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		p.Stop()
	}()
	if Recording() || Current() != nil {
		t.Error("the profile is still under way")
	}
	start(t, Options{}).Stop()
}

func TestHandlerStopsAndSteps(t *testing.T) {
	ready := 0
	p := start(t, Options{
		Schedule: Schedule{Active: 1, Warmup: 1},
		OnTraceReady: func(p *Profile) {
			ready++
			p.Step()
			p.Stop()
		},
	})
	for range 6 {
		p.Step()
	}
	if ready != 1 || Current() != nil || Recording() {
		t.Errorf("%d ready, recording %v", ready, Recording())
	}
	if p.StepNum() != 2 {
		t.Errorf("step %d, want 2", p.StepNum())
	}
}

func TestHandlerOfStopCallsStop(t *testing.T) {
	p := start(t, Options{OnTraceReady: func(p *Profile) { p.Stop() }})
	p.Stop()
	if Current() != nil || p.Cycles() != 1 {
		t.Error("the profile is still under way")
	}
}

func TestFromManyGoroutines(t *testing.T) {
	const steps = 200
	ready := 0
	started := make(chan *Profile)
	go func() {
		p, err := Start(Options{Schedule: Schedule{Warmup: 1, Active: 1}, OnTraceReady: func(*Profile) { ready++ }})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range steps / 8 {
				Record("work", func() { Step() })
				p.Trace()
				p.Warnings()
				p.StepNum()
			}
		})
	}
	wg.Wait()
	done := make(chan bool)
	go func() { p.Stop(); close(done) }()
	<-done
	if p.StepNum() != steps || ready != steps/2 {
		t.Errorf("%d steps, %d cycles", p.StepNum(), ready)
	}
	valid(t, p.Trace())
}

func TestSourcesFailAlone(t *testing.T) {
	for _, c := range []struct{ fail, panics, text string }{
		{"prepare", "", "Nothing was recorded by test probe: probe refused."},
		{"", "prepare", "panic: probe broke"},
		{"stop", "", "What test probe recorded is lost: probe refused."},
		{"", "stop", "panic: probe broke"},
		{"add", "", "is lost"},
	} {
		pr := newProbe(t)
		pr.fail, pr.panics = c.fail, c.panics
		p := start(t, Options{Activities: CPU | Go | probeActivity})
		Begin("work").End()
		p.Stop()
		x := p.Trace()
		valid(t, x)
		if len(spans(x)) != 1 || len(x.Counters) == 0 {
			t.Errorf("%+v: the rest was not recorded", c)
		}
		ok := false
		for _, q := range x.Problems {
			ok = ok || q.Kind == "source-test-probe" && strings.Contains(q.Text, c.text) && q.Remedy == "Ask it not to."
		}
		if !ok {
			t.Errorf("%+v: problems %+v", c, x.Problems)
		}
	}
}

func TestMissingActivity(t *testing.T) {
	p := start(t, Options{Activities: CPU | 1<<30})
	p.Stop()
	if problemCount(p.Trace(), "source-missing") != 1 {
		t.Errorf("problems %+v", p.Trace().Problems)
	}
}

func TestPackageStepWithoutProfile(t *testing.T) {
	Step() // must not panic
	if Recording() {
		t.Error("recording")
	}
}

func TestRecordEndsOnPanic(t *testing.T) {
	p := start(t, Options{})
	func() {
		defer func() { recover() }()
		Record("panics", func() { panic("x") })
	}()
	done := make(chan bool)
	go func() {
		defer close(done)
		Record("exits", func() { runtime.Goexit() })
	}()
	<-done
	if err := RecordErr("fails", func() error { return fmt.Errorf("x") }); err == nil {
		t.Error("the error is lost")
	}
	if v := Value("value", func() int { return 7 }); v != 7 {
		t.Error("the value is lost")
	}
	p.Stop()
	for i := range p.Trace().Slices {
		if s := &p.Trace().Slices[i]; s.Flags != 0 && p.Trace().Tracks[s.Track].Kind == trace.TrackGoroutine {
			t.Errorf("%s has flags %b", p.Trace().Name(s), s.Flags)
		}
	}
	if n := len(spans(p.Trace())); n != 4 {
		t.Errorf("%d spans", n)
	}
}

// TestStepsBelongToTheLoop: the first step is begun by whoever starts the profile, but belongs to the goroutine that steps.
func TestStepsBelongToTheLoop(t *testing.T) {
	started := make(chan *Profile)
	go func() {
		p, err := Start(Options{Schedule: Schedule{Active: 2, Repeat: 1}})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	Begin("work").End()
	p.Step()
	Begin("work").End()
	p.Step()
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if got := strings.Join(spans(x), " "); got != "ProfilerStep#0 work ProfilerStep#1 work" {
		t.Errorf("spans %q", got)
	}
	for i := range x.Slices {
		if s := &x.Slices[i]; x.Class(s) == trace.ClassStep && s.Flags != 0 {
			t.Errorf("%s has flags %b", x.Name(s), s.Flags)
		}
	}
}

func TestWithoutCPU(t *testing.T) {
	p := start(t, Options{Activities: Memory, ProfileMemory: true, Schedule: Schedule{Active: 1, Repeat: 1}})
	Begin("a").End()
	BeginOp("b", &Op{}).End()
	FreeSlice(AllocSlice("c", make([]byte, 10)))
	p.Step()
	p.Stop()
	x := p.Trace()
	valid(t, x)
	if got := strings.Join(spans(x), " "); got != "ProfilerStep#0" || len(x.Memory) != 2 || len(x.Counters) == 0 {
		t.Errorf("spans %q, %d memory events, %d counters", got, len(x.Memory), len(x.Counters))
	}
}
