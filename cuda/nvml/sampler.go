package nvml

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gander-go/gander/profiler/trace"
)

// Period is how often a Sampler reads by default: NVML's own figures change every 20 to 160 ms.
const Period = 50 * time.Millisecond

// maxSamples bounds what a Sampler keeps for a device. When it is reached every second sample is dropped and the period doubles.
const maxSamples = 1 << 14

// source is what a Sampler reads; *Library is one.
type source interface {
	Devices() []Device
	Read(i int) Reading
}

// Sampler reads devices again and again until it is stopped.
type Sampler struct {
	from   source
	which  []int // of from.Devices()
	period time.Duration
	max    int
	stop   chan struct{}
	done   chan struct{}

	// Written by run, read once done is closed.
	samples [][]Reading // by place in which
	spent   time.Duration
}

// Sample starts reading the devices that the process may use (CUDA_VISIBLE_DEVICES) each period, Period when it is 0. Stop must
// be called.
func (l *Library) Sample(period time.Duration) *Sampler {
	return newSampler(l, Visible(l.Devices(), os.Getenv("CUDA_VISIBLE_DEVICES")), period, maxSamples)
}

func newSampler(from source, which []int, period time.Duration, limit int) *Sampler {
	if period <= 0 {
		period = Period
	}
	s := &Sampler{from: from, which: which, period: period, max: limit, stop: make(chan struct{}), done: make(chan struct{}), samples: make([][]Reading, len(which))}
	go s.run()
	return s
}

func (s *Sampler) run() {
	defer close(s.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for last := false; ; {
		select {
		case <-timer.C:
		case <-s.stop:
			last = true
		}
		start := time.Now()
		for k, i := range s.which {
			s.samples[k] = append(s.samples[k], s.from.Read(i))
		}
		if last {
			return
		}
		if len(s.which) > 0 && len(s.samples[0]) >= s.max {
			s.thin()
		}
		cost := time.Since(start)
		s.spent += cost
		timer.Reset(max(s.period-cost, 4*cost)) // a slow driver does not take more than a fifth of a core
	}
}

func (s *Sampler) thin() {
	for k, all := range s.samples {
		kept := all[:0]
		for i := 0; i < len(all); i += 2 {
			kept = append(kept, all[i])
		}
		s.samples[k] = kept
	}
	s.period *= 2
}

// Stop reads a last time and ends the sampler. It is called once; AddTo may be called afterwards.
func (s *Sampler) Stop() {
	close(s.stop)
	<-s.done
}

// metrics are the counters that a device has.
var metrics = []struct {
	name, unit string
	value      func(r Reading) float64
}{
	{"utilization", "percent", func(r Reading) float64 { return r.GPU }},
	{"memory bus", "percent", func(r Reading) float64 { return r.MemoryBus }},
	{"memory used", "bytes", func(r Reading) float64 {
		if r.Used < 0 {
			return math.NaN()
		}
		return float64(r.Used)
	}},
	{"power", "watts", func(r Reading) float64 { return r.Power }},
	{"temperature", "celsius", func(r Reading) float64 { return r.Temperature }},
	{"SM clock", "MHz", func(r Reading) float64 { return r.SMClock }},
	{"memory clock", "MHz", func(r Reading) float64 { return r.MemClock }},
}

// AddTo adds what was sampled within the window of t as counters, on its clock, and a problem for each device that was held
// back. A trace that does not say where its zero is on CLOCK_MONOTONIC gets nothing but a problem.
func (s *Sampler) AddTo(t *trace.Trace) {
	zero := t.MonoZero()
	if zero == 0 {
		t.Problems = append(t.Problems, trace.Problem{Kind: "nvml-clock", Count: 1, Text: "the GPU's utilisation and memory were sampled, but the trace does not say on which clock it is"})
		return
	}
	devices := s.from.Devices()
	for k, i := range s.which {
		s.addDevice(t, devices[i], visible(s.samples[k], zero+t.Meta.Start, zero+t.Meta.End), zero)
	}
}

// visible are the readings within [from, to], and the one before with its time moved to from, so that a short window has
// a value too.
func visible(all []Reading, from, to int64) []Reading {
	first, _ := slices.BinarySearchFunc(all, from, func(r Reading, t int64) int { return cmp.Compare(r.Time, t) })
	end, _ := slices.BinarySearchFunc(all, to+1, func(r Reading, t int64) int { return cmp.Compare(r.Time, t) })
	out := slices.Clone(all[first:max(first, end)])
	if first > 0 && (len(out) == 0 || out[0].Time > from) {
		r := all[first-1]
		r.Time = from
		out = slices.Insert(out, 0, r)
	}
	return out
}

func (s *Sampler) addDevice(t *trace.Trace, d Device, readings []Reading, zero int64) {
	id := deviceOf(t, d)
	for _, m := range metrics {
		c := trace.Counter{Name: fmt.Sprintf("GPU %d %s", d.Index, m.name), Unit: m.unit, Process: trace.NoProcess, Track: trace.NoTrack, Device: id}
		for _, r := range readings {
			if v := m.value(r); !math.IsNaN(v) {
				c.Times = append(c.Times, r.Time-zero)
				c.Values = append(c.Values, v)
			}
		}
		if len(c.Times) > 0 {
			t.Counters = append(t.Counters, c)
		}
	}
	var why Throttle
	slowed := 0
	for _, r := range readings {
		if r.Throttle.Slowed() {
			slowed++
			why |= r.Throttle &^ 1
		}
	}
	if slowed > 0 {
		t.Problems = append(t.Problems, trace.Problem{Kind: "gpu-throttled", Count: int64(slowed),
			Text:   fmt.Sprintf("GPU %d ran below its clocks in %d of %d samples: %s", d.Index, slowed, len(readings), why),
			Remedy: "durations of kernels depend on it; compare only runs with the same clocks"})
	}
}

// deviceOf is the device of t that d is, NoDevice when that is not sure: a trace numbers devices as CUDA does, which counts only
// the visible ones.
func deviceOf(t *trace.Trace, d Device) trace.DeviceID {
	if os.Getenv("CUDA_VISIBLE_DEVICES") != "" {
		return trace.NoDevice
	}
	for i := range t.Devices {
		if t.Devices[i].ID == int64(d.Index) && t.Devices[i].Name == d.Name {
			return trace.DeviceID(i)
		}
	}
	return trace.NoDevice
}

// Visible are the places in devices of those that list names, as CUDA_VISIBLE_DEVICES does: numbers and beginnings of UUIDs, up
// to the first that is neither. An empty list names all.
func Visible(devices []Device, list string) []int {
	var out []int
	if strings.TrimSpace(list) == "" {
		for i := range devices {
			out = append(out, i)
		}
		return out
	}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		n, err := strconv.Atoi(name)
		at := slices.IndexFunc(devices, func(d Device) bool {
			return err == nil && d.Index == n || err != nil && len(name) > 4 && strings.HasPrefix(d.UUID, name)
		})
		if at < 0 {
			break
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}
