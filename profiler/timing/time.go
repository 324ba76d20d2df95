package timing

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Options say how Run measures. The zero value is IPython's default: seven runs of as many loops as take 0.2 s.
type Options struct {
	Loops     int  // calls in each run; 0 chooses 1, 2, 5, 10, … so that a run takes at least 0.2 s
	Runs      int  // 0 is 7
	CPU       bool // measure the CPU time of the process instead of wall time
	Precision int  // significant digits in String; 0 is 3
}

// minRun is how long a run should take at least.
const minRun = 200 * time.Millisecond

// Result is what Run measured.
type Result struct {
	Loops     int
	Times     []time.Duration // of each run, all loops together
	Precision int
	Tuning    time.Duration // time spent on choosing Loops
}

// Run calls f again and again and measures.
func Run(o Options, f func()) *Result {
	r := &Result{Loops: o.Loops, Precision: o.Precision}
	if r.Precision <= 0 {
		r.Precision = 3
	}
	runs := o.Runs
	if runs <= 0 {
		runs = 7
	}
	if r.Loops <= 0 {
		start := time.Now()
		r.Loops = choose(o, f)
		r.Tuning = time.Since(start)
	}
	for range runs {
		r.Times = append(r.Times, measure(o, f, r.Loops))
	}
	return r
}

func measure(o Options, f func(), loops int) time.Duration {
	now := func() time.Duration { return time.Duration(time.Now().UnixNano()) }
	if o.CPU {
		now = cpuTime
	}
	wall := time.Now()
	start := now()
	for range loops {
		f()
	}
	if o.CPU {
		return now() - start
	}
	return time.Since(wall)
}

// choose finds the smallest of 1, 2, 5, 10, 20, … calls that take minRun.
func choose(o Options, f func()) int {
	for scale := 1; ; scale *= 10 {
		for _, k := range []int{1, 2, 5} {
			if measure(o, f, k*scale) >= minRun || scale > math.MaxInt32/10 {
				return k * scale
			}
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PerLoop is the time of one call in each run, in seconds.
func (r *Result) PerLoop() []float64 {
	out := make([]float64, len(r.Times))
	for i, t := range r.Times {
		out[i] = t.Seconds() / float64(r.Loops)
	}
	return out
}

// Mean is the mean time of one call in seconds.
func (r *Result) Mean() float64 {
	var s float64
	for _, v := range r.PerLoop() {
		s += v
	}
	return s / float64(max(1, len(r.Times)))
}

// StdDev is the standard deviation over the runs (of the population, as IPython's), in seconds.
func (r *Result) StdDev() float64 {
	mean, s := r.Mean(), 0.0
	for _, v := range r.PerLoop() {
		s += (v - mean) * (v - mean)
	}
	return math.Sqrt(s / float64(max(1, len(r.Times))))
}

// Best and Worst are the times of one call in the fastest and the slowest run, in seconds.
func (r *Result) Best() float64 {
	best := math.Inf(1)
	for _, v := range r.PerLoop() {
		best = min(best, v)
	}
	return best
}

// Worst is the time of one call in the slowest run, in seconds.
func (r *Result) Worst() float64 {
	worst := 0.0
	for _, v := range r.PerLoop() {
		worst = max(worst, v)
	}
	return worst
}

// String is the line that IPython prints, with a warning when the runs differ much.
func (r *Result) String() string {
	warn := ""
	if best := r.Best(); len(r.Times) > 1 && best > 0 && r.Worst() > 4*best {
		warn = fmt.Sprintf("The slowest run took %.2f times longer than the fastest. This could mean that an intermediate result is being cached or that the machine is busy.\n", r.Worst()/best)
	}
	runs, loops := "s", "s"
	if len(r.Times) == 1 {
		runs = ""
	}
	if r.Loops == 1 {
		loops = ""
	}
	return fmt.Sprintf("%s%s ± %s per loop (mean ± std. dev. of %d run%s, %s loop%s each)", warn, Format(r.Mean(), r.Precision), Format(r.StdDev(), r.Precision), len(r.Times), runs, thousands(r.Loops), loops)
}

// Format prints seconds with the unit that suits them and the given number of significant digits.
func Format(seconds float64, digits int) string {
	if seconds >= 60 {
		d := time.Duration(seconds * 1e9).Round(time.Second)
		return d.String()
	}
	scale, unit := 1.0, "s"
	switch {
	case seconds == 0:
		return "0 ns"
	case seconds < 1e-6:
		scale, unit = 1e9, "ns"
	case seconds < 1e-3:
		scale, unit = 1e6, "µs"
	case seconds < 1:
		scale, unit = 1e3, "ms"
	}
	return strconv.FormatFloat(seconds*scale, 'g', digits, 64) + " " + unit
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Print prints a result: cells call it, whose own name for package fmt may be another's.
func Print(r fmt.Stringer) { fmt.Println(r) }

// Keep uses v so that the compiler cannot drop what computes it. It costs a call, and no allocation.
//
//go:noinline
func Keep[T any](v T) {}
