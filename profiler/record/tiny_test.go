package record

import (
	"encoding/json"
	"maps"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/trace"
)

// counted is what the trace says of calls of a name: slices, and calls that were only counted.
func counted(t *testing.T, x *trace.Trace, name string) (slices int, only string) {
	t.Helper()
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Name(s) != name {
			continue
		}
		slices++
		if s.Kind == trace.ArgCall && x.Calls[s.Args].Extra != 0 {
			if only != "" {
				t.Errorf("%s tells of counted calls twice", name)
			}
			only = x.Strings.Get(x.Calls[s.Args].Extra)
		}
	}
	return slices, only
}

// takingAllForShort records calls whose duration does not matter: a busy machine makes the shortest call long now and then.
func takingAllForShort(t *testing.T, c Config) *Recorder {
	r := recording(t, c)
	r.tinyCall = math.MaxInt64
	return r
}

func TestManyShortCallsAreCounted(t *testing.T) {
	r := takingAllForShort(t, Config{})
	for range tinyAfter + 1000 {
		BeginCall("short").End()
		Begin("asked for").End()
	}
	x := built(t, r)
	if n, only := counted(t, x, "short"); n != tinyAfter+1 || only != `{"calls counted only":999}` {
		t.Errorf("%d slices, %s", n, only)
	}
	if n, only := counted(t, x, "asked for"); n != tinyAfter+1000 || only != "" {
		t.Errorf("%d slices of spans that were asked for, %s", n, only)
	}
	if n := problem(x, "counted-calls"); n != 999 {
		t.Errorf("a problem of %d calls", n)
	}
	text := ""
	for _, p := range x.Problems {
		text += p.Text
	}
	if !strings.Contains(text, "Of 9192 calls of short 8193 were timed") {
		t.Errorf("the problem says %q", text)
	}
}

func TestLongCallsAreAllRecorded(t *testing.T) {
	r := recording(t, Config{})
	for range 2*tinyAfter + 1 {
		s := BeginCall("long")
		for start := time.Now(); time.Since(start) < 2*tinyCall; {
		}
		s.End()
	}
	if n, only := counted(t, built(t, r), "long"); n != 2*tinyAfter+1 || only != "" {
		t.Errorf("%d slices, %s", n, only)
	}
}

// told sums the slices of a name and the calls that they tell of, by goroutine and by step.
func told(t *testing.T, x *trace.Trace, name string) (byGoroutine map[int64]int, byStep map[string]int) {
	t.Helper()
	byGoroutine, byStep = map[int64]int{}, map[string]int{}
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Name(s) != name {
			continue
		}
		n := 1
		if s.Kind == trace.ArgCall && x.Calls[s.Args].Extra != 0 {
			var args map[string]int
			if err := json.Unmarshal([]byte(x.Strings.Get(x.Calls[s.Args].Extra)), &args); err != nil {
				t.Error(err)
			}
			n += args[CountedCalls]
		}
		byGoroutine[x.Tracks[s.Track].ID] += n
		step := ""
		for k := range x.Slices {
			if p := &x.Slices[k]; x.Class(p) == trace.ClassStep && p.Start <= s.Start && s.Start < p.End() {
				step = x.Name(p)
			}
		}
		byStep[step] += n
	}
	return
}

func TestCountedCallsOfManyGoroutines(t *testing.T) {
	r := takingAllForShort(t, Config{})
	const goroutines, each = 200, 400 // several share a slot
	var wg sync.WaitGroup
	var mu sync.Mutex
	want := map[int64]int{}
	for range tinyAfter {
		BeginCall("short").End()
	}
	want[goroutine()] = tinyAfter
	for i := range goroutines {
		wg.Go(func() {
			for range each + i {
				BeginCall("short").End()
				runtime.Gosched()
			}
			mu.Lock()
			want[goroutine()] += each + i
			mu.Unlock()
		})
	}
	wg.Wait()
	x := built(t, r)
	if got, _ := told(t, x, "short"); !maps.Equal(got, want) {
		t.Errorf("by goroutine %v, want %v", got, want)
	}
	if len(x.Slices) != tinyAfter+goroutines {
		t.Errorf("%d slices", len(x.Slices))
	}
}

func TestCountedCallsOfSteps(t *testing.T) {
	r := takingAllForShort(t, Config{})
	for range tinyAfter {
		BeginCall("short").End()
	}
	want := map[string]int{"": tinyAfter}
	for i := range 5 {
		s := r.BeginStep(i)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 100 * i {
					BeginCall("short").End()
				}
			})
		}
		wg.Wait()
		for range 10 {
			BeginCall("short").End()
		}
		r.EndStep(s)
		want["ProfilerStep#"+strconv.Itoa(i)] = 300*i + 10
		for range 7 {
			BeginCall("short").End()
		}
		want[""] += 7
	}
	if _, got := told(t, built(t, r), "short"); !maps.Equal(got, want) {
		t.Errorf("by step %v, want %v", got, want)
	}
}

// What does not fit is counted all the same: calls whose event was dropped, and goroutines beyond the bound.
func TestCountedCallsWithoutRoom(t *testing.T) {
	r := takingAllForShort(t, Config{MaxEvents: 1})
	for range 3 * tinyAfter {
		BeginCall("short").End()
	}
	x := built(t, r)
	sum := int(problem(x, "counted-calls") + problem(x, "dropped-spans"))
	if n := len(x.Slices); sum+n != 3*tinyAfter {
		t.Errorf("%d slices and %d others are not %d calls", n, sum, 3*tinyAfter)
	}
}

// A call that is only counted.
func BenchmarkCountedCall(b *testing.B) {
	r := recording(b, Config{})
	for range 2 * tinyAfter {
		BeginCall("short").End()
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			BeginCall("short").End()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				BeginCall("short").End()
			}
		})
	})
	r.Stop()
}
