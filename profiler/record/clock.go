package record

import (
	"math"
	"os"
	"strings"
	"time"
)

// base is the zero of record time.
var base = time.Now()

// baseMono is the kernel's CLOCK_MONOTONIC at record time zero, 0 where it cannot be read.
var baseMono = monotonicBase()

// ticking says whether ticks are those of the time stamp counter. It is set once, before any recording.
var ticking = trustTSC()

// origin is the first reading of both clocks; far readings make rates exact.
var origin = readPair()

// Now is the record time: monotonic nanoseconds since the process started.
func Now() int64 { return int64(time.Since(base)) }

// Wall converts a record time to Unix nanoseconds as of the process's start.
func Wall(t int64) int64 { return base.UnixNano() + t }

// Monotonic converts a record time to the kernel's CLOCK_MONOTONIC, which other processes and the execution trace share.
// It is 0 where that clock is unknown.
func Monotonic(t int64) int64 {
	if baseMono == 0 {
		return 0
	}
	return baseMono + t
}

// ClockName says what spans are timed with: "tsc" or "monotonic".
func ClockName() string {
	if ticking {
		return "tsc"
	}
	return "monotonic"
}

// trustTSC reports whether the kernel itself keeps time by the time stamp counter, which means it found the counter
// constant, synchronised between cores and never stopping.
func trustTSC() bool {
	if !hasTSC {
		return false
	}
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && strings.TrimSpace(string(b)) == "tsc"
}

// ticks reads the clock of spans: raw ticks, or nanoseconds of record time.
func ticks() int64 {
	if ticking {
		return readTSC()
	}
	return int64(time.Since(base))
}

// pair is one moment on both clocks.
type pair struct{ tick, ns int64 }

// readPair reads both clocks together. Of a few tries it keeps the one that took the shortest, so that an interrupt
// between the two readings does not shift all spans.
func readPair() pair {
	if !ticking {
		n := Now()
		return pair{n, n}
	}
	var p pair
	best := int64(math.MaxInt64)
	for range 8 {
		a := readTSC()
		n := Now()
		b := readTSC()
		if d := b - a; d >= 0 && d < best {
			best, p = d, pair{a + d/2, n}
		}
	}
	return p
}

// scale converts ticks to record time by a line through two pairs.
type scale struct {
	from   pair
	rate   float64 // ns per tick
	broken bool    // the counter did not run evenly: the machine slept or moved
}

// shortWindow is the recording below which the two ends are too near to each other to give the counter's rate; the
// rate since the process started is used then.
const shortWindow = 50 * int64(time.Millisecond)

// maxDrift is how far the counter's rate during a recording may differ from its rate before it. Adjustments of the clock
// by NTP stay below 500 parts in a million.
const maxDrift = 1e-3

func newScale(from, to pair) scale {
	if !ticking {
		return scale{from: from, rate: 1}
	}
	before, known := rate(origin, from)
	known = known && from.ns-origin.ns >= shortWindow
	here, ok := rate(from, to)
	s := scale{from: from, rate: here, broken: !ok && to != from}
	window := to.ns - from.ns
	if window >= shortWindow {
		s.broken = s.broken || known && math.Abs(here/before-1) > maxDrift
		return s
	}
	// The longer baseline is better, unless it spans a time in which only one of the clocks ran: then the two rates
	// differ by more than the readings of a short window can be off.
	if whole, fine := rate(origin, to); fine && (!ok || math.Abs(here/whole-1) <= maxDrift+readError/float64(max(1, window))) {
		s.rate = whole
	}
	return s
}

// readError is how far two pairs together may be off, in ns.
const readError = 1000

// rate is ns per tick between two pairs; false when the counter went back.
func rate(a, b pair) (float64, bool) {
	if b.tick <= a.tick || b.ns < a.ns {
		return 1, false
	}
	return float64(b.ns-a.ns) / float64(b.tick-a.tick), true
}

func (s scale) ns(tick int64) int64 {
	if s.rate == 1 {
		return s.from.ns + tick - s.from.tick
	}
	return s.from.ns + int64(math.Round(float64(tick-s.from.tick)*s.rate))
}
