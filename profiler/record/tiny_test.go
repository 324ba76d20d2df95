package record

import (
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

func TestManyShortCallsAreCounted(t *testing.T) {
	r := recording(t, Config{})
	for range tinyAfter + 1000 {
		BeginCall("short").End()
		Begin("asked for").End()
	}
	x := built(t, r)
	if n, only := counted(t, x, "short"); n != tinyAfter || only != `{"calls counted only":1000}` {
		t.Errorf("%d slices, %s", n, only)
	}
	if n, only := counted(t, x, "asked for"); n != tinyAfter+1000 || only != "" {
		t.Errorf("%d slices of spans that were asked for, %s", n, only)
	}
	if n := problem(x, "counted-calls"); n != 1000 {
		t.Errorf("a problem of %d calls", n)
	}
	text := ""
	for _, p := range x.Problems {
		text += p.Text
	}
	if !strings.Contains(text, "Of 9192 calls of short the first 8192 were timed") {
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

func TestCountedCallsOfManyGoroutines(t *testing.T) {
	r := recording(t, Config{})
	const goroutines, each = 8, 10_000
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				BeginCall("short").End()
			}
		})
	}
	wg.Wait()
	x := built(t, r)
	n, _ := counted(t, x, "short")
	if only := problem(x, "counted-calls"); int64(n)+only != goroutines*each || only == 0 {
		t.Errorf("%d slices and %d counted are not %d calls", n, only, goroutines*each)
	}
}
