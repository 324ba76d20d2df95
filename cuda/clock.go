package cuda

import (
	"slices"

	"github.com/gander-go/gander/profiler/record"
)

// pair is one moment on both clocks: CUPTI's (wall-clock time of the host, ns) and record time.
type pair struct {
	device uint64
	record int64
}

// clock converts CUPTI's times to record time along the lines between pairs that were read during the capture. Linux slews
// the wall clock and the monotonic one alike, so that their distance changes only when the wall clock is set, which shows in
// the pairs; on WSL, CUPTI's clock is the raw one, whose rate differs by a few millionths, which the lines follow.
type clock struct {
	pairs []pair
	gap   int64 // the longest that reading a pair took, ns: the error of a pair is at most half of it
}

// clockTries is how often a pair is read to find one that nothing interrupted.
const clockTries = 32

// read adds a pair. Of some tries the one that took the shortest counts, with the device's reading in its middle.
func (c *clock) read(device func() (uint64, error)) error {
	best := int64(-1)
	var p pair
	for range clockTries {
		a := record.Now()
		d, err := device()
		b := record.Now()
		if err != nil {
			return err
		}
		if best < 0 || b-a < best {
			best, p = b-a, pair{d, a + (b-a)/2}
		}
	}
	if n := len(c.pairs); n > 0 && p.device <= c.pairs[n-1].device {
		p.device = c.pairs[n-1].device + 1 // the wall clock was set back; set tells
	}
	c.pairs = append(c.pairs, p)
	c.gap = max(c.gap, best)
	return nil
}

// record converts a time of CUPTI's to record time.
func (c *clock) record(device uint64) int64 {
	n, _ := slices.BinarySearchFunc(c.pairs, device, func(p pair, d uint64) int {
		if p.device < d {
			return -1
		}
		return 1
	})
	switch {
	case len(c.pairs) == 0:
		return int64(device)
	case n == 0:
		return c.pairs[0].record - int64(c.pairs[0].device-device)
	case n == len(c.pairs):
		last := c.pairs[n-1]
		return last.record + int64(device-last.device)
	}
	from, to := c.pairs[n-1], c.pairs[n]
	// Differences stay below 2⁵³ for a hundred days.
	rate := float64(to.record-from.record) / float64(to.device-from.device)
	return from.record + int64(float64(device-from.device)*rate+0.5)
}

// maxSlew is how much faster or slower than the monotonic clock CUPTI's may run without having been set.
const maxSlew = 1e-3

// set reports whether the wall clock was set during the capture, by how many nanoseconds at most.
func (c *clock) set() (by int64) {
	for i := 1; i < len(c.pairs); i++ {
		a, b := c.pairs[i-1], c.pairs[i]
		took := b.record - a.record
		off := int64(b.device-a.device) - took
		if abs(off) > int64(maxSlew*float64(took))+2*c.gap+1000 && abs(off) > abs(by) {
			by = off
		}
	}
	return by
}

func abs(n int64) int64 { return max(n, -n) }
