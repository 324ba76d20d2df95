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
