package record

import (
	"sync"
	"testing"
	"time"

	"github.com/petermattis/goid"
)

func TestGoroutineIDs(t *testing.T) {
	if !fastID {
		t.Log("this Go version has another layout: ids are read slowly")
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if a, b := goroutine(), slowID(); a != b || a == 0 || fastID && goid.Get() != b {
				t.Errorf("goroutine %d is taken for %d", b, a)
			}
		})
	}
	wg.Wait()
}

func TestScale(t *testing.T) {
	from := readPair()
	type reading struct {
		tick   int64
		lo, hi int64
	}
	var list []reading
	for range 50 {
		lo := Now()
		tick := ticks()
		list = append(list, reading{tick, lo, Now()})
		time.Sleep(2 * time.Millisecond)
	}
	s := newScale(from, readPair())
	for _, r := range list {
		if got := s.ns(r.tick); got < r.lo-2000 || got > r.hi+2000 {
			t.Errorf("a reading between %d and %d ns is converted to %d", r.lo, r.hi, got)
		}
	}
}

func TestScaleOfShortWindow(t *testing.T) {
	p := readPair()
	if got := newScale(p, p).ns(p.tick); got != p.ns {
		t.Errorf("the only reading, %d, is converted to %d", p.ns, got)
	}
}

func TestClocks(t *testing.T) {
	now := Now()
	if d := time.Now().UnixNano() - Wall(now); d < -1e9 || d > 1e9 {
		t.Errorf("the wall clock is %d ns off", d)
	}
	if m := Monotonic(now); m != 0 && m < now {
		t.Errorf("CLOCK_MONOTONIC %d is before the process's own time %d", m, now)
	}
	if n := ClockName(); (n == "tsc") != ticking {
		t.Errorf("clock %q", n)
	}
}

func TestBrokenCounterIsNoticed(t *testing.T) {
	if !ticking {
		t.Skip("SKIPPED: this machine's time stamp counter is not used")
	}
	oldOrigin := origin
	defer func() { origin = oldOrigin }()
	const s = int64(time.Second)
	origin = pair{0, 0}
	for _, c := range []struct {
		name     string
		from, to pair
		broken   bool
		at, want int64 // a tick and its time
	}{
		{"steady", pair{20 * s, 10 * s}, pair{40 * s, 20 * s}, false, 30 * s, 15 * s},
		{"adjusted", pair{20 * s, 10 * s}, pair{40*s + 4000*1000, 20 * s}, false, 20 * s, 10 * s},
		{"short", pair{20 * s, 10 * s}, pair{20*s + 2000, 10*s + 1000}, false, 20*s + 1000, 10*s + 500},
		{"short after a sleep", pair{200 * s, 10 * s}, pair{200*s + 20_000_000, 10*s + 10_000_000}, false, 200*s + 10_000_000, 10*s + 5_000_000},
		{"empty", pair{20 * s, 10 * s}, pair{20 * s, 10 * s}, false, 20 * s, 10 * s},
		{"slept", pair{20 * s, 10 * s}, pair{90 * s, 20 * s}, true, 20 * s, 10 * s},
		{"went back", pair{20 * s, 10 * s}, pair{1 * s, 20 * s}, true, 20 * s, 10 * s},
		{"started at once", pair{0, 0}, pair{20 * s, 10 * s}, false, 2 * s, 1 * s},
	} {
		got := newScale(c.from, c.to)
		if got.broken != c.broken {
			t.Errorf("%s: broken is %v", c.name, got.broken)
		}
		if ns := got.ns(c.at); ns != c.want {
			t.Errorf("%s: tick %d is at %d ns, want %d", c.name, c.at, ns, c.want)
		}
	}
}
