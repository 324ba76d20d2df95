//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/profiler"
)

// The load that overhead is measured with: kernels of the length that training runs have, and as many empty ones as the host can launch.
const (
	loadKernels = 200
	loadTime    = 100 * time.Microsecond
	empties     = 2000
	rounds      = 5
)

// measureOverhead compares the time of runs with and without a capture, alternating, by their medians.
func measureOverhead(r *Report, o options) error {
	w, err := prepared()
	if err != nil {
		return err
	}
	limit := o.overhead
	load := func() (time.Duration, error) { return w.launches(loadKernels, loadTime) }
	empty := func() (time.Duration, error) { return w.launches(empties, 0) }
	plain, captured, err := alternate(load)
	if err != nil {
		r.add("overhead of a capture", err, "")
		return nil
	}
	ratio := float64(captured) / float64(plain)
	if ratio > limit {
		err = fmt.Errorf("a captured run takes %.2f times as long as an uncaptured one (%v, %v)", ratio, captured, plain)
	}
	r.add("overhead of a capture", err, "%.3f times as long: %v and %v for %d kernels of %v", ratio, captured, plain, loadKernels, loadTime)
	plain, captured, err = alternate(empty)
	r.add("overhead of a launch", err, "%v captured, %v uncaptured", captured/empties, plain/empties)
	return nil
}

// launches is the time that n kernels of that length take, one behind the other.
func (w *work) launches(n int, each time.Duration) (time.Duration, error) {
	start := time.Now()
	for range n {
		s := profiler.Begin("launch")
		err := w.spin.Launch(driver.Launch{Stream: w.stream}, int64(each))
		s.End()
		if err != nil {
			return 0, err
		}
	}
	err := w.stream.Synchronize()
	return time.Since(start), err
}

func alternate(f func() (time.Duration, error)) (plain, captured time.Duration, err error) {
	var a, b []time.Duration
	for range rounds {
		d, err := f()
		if err != nil {
			return 0, 0, err
		}
		a = append(a, d)
		p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
		if err != nil {
			return 0, 0, err
		}
		d, err = f()
		p.Stop()
		if err != nil {
			return 0, 0, err
		}
		b = append(b, d)
	}
	slices.Sort(a)
	slices.Sort(b)
	return a[len(a)/2], b[len(b)/2], nil
}
