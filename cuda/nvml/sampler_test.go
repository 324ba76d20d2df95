package nvml

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gander-go/gander/profiler/trace"
)

// steady is a source whose figures tell when they were read.
type steady struct {
	devices []Device
	reads   atomic.Int64
	start   time.Time
}

func (s *steady) Devices() []Device { return s.devices }

func (s *steady) Read(i int) Reading {
	n := s.reads.Add(1)
	r := unknownReading()
	r.Time, r.GPU, r.Used = 1e12+int64(time.Since(s.start)), float64(n), int64(i)<<20
	return r
}

func emptyTrace(zero, end int64) *trace.Trace {
	t := &trace.Trace{Categories: []trace.Category{{}}, Stacks: make([]trace.Stack, 1), Frames: make([]trace.Frame, 1),
		Meta: trace.Meta{Tool: "gander", Rank: trace.NoRank, End: end}}
	if zero != 0 {
		t.Meta.Values = []trace.KeyValue{{Key: trace.MonotonicZero, Value: strconv.FormatInt(zero, 10)}}
	}
	return t
}

func TestSamplerReadsFirstAndLast(t *testing.T) {
	src := &steady{devices: []Device{{Index: 0}, {Index: 1}}, start: time.Now()}
	s := newSampler(src, []int{1}, time.Hour, 100)
	s.Stop()
	if n := len(s.samples[0]); n < 1 || n > 2 {
		t.Errorf("%d samples at the ends of a short time", n)
	}
	x := emptyTrace(1e12-5, int64(time.Hour))
	s.AddTo(x)
	if len(x.Counters) != 2 { // what is unknown is no counter
		t.Fatalf("%d counters", len(x.Counters))
	}
	c := x.Counters[1]
	if c.Name != "GPU 1 memory used" || c.Unit != "bytes" || c.Values[0] != 1<<20 || c.Times[0] < 5 {
		t.Errorf("%+v", c)
	}
	if err := x.Validate(); err != nil {
		t.Error(err)
	}
}

func TestWindow(t *testing.T) {
	at := func(times ...int64) (r []Reading) {
		for _, x := range times {
			r = append(r, Reading{Time: x, GPU: float64(x)})
		}
		return r
	}
	for _, c := range []struct {
		all      []Reading
		from, to int64
		times    []int64
		first    float64
	}{
		{at(10, 20, 30, 40), 20, 30, []int64{20, 30}, 20},
		{at(10, 20, 30, 40), 15, 35, []int64{15, 20, 30}, 10},
		{at(10, 20), 12, 15, []int64{12}, 10},
		{at(10, 20), 30, 40, []int64{30}, 20},
		{at(10, 20), 1, 5, nil, 0},
		{nil, 1, 5, nil, 0},
	} {
		got := visible(c.all, c.from, c.to)
		var times []int64
		for _, r := range got {
			times = append(times, r.Time)
		}
		if !slices.Equal(times, c.times) || len(got) > 0 && got[0].GPU != c.first {
			t.Errorf("[%d, %d] of %v: %v", c.from, c.to, c.all, got)
		}
	}
}

func TestSamplerIsBounded(t *testing.T) {
	src := &steady{devices: []Device{{}}, start: time.Now()}
	s := newSampler(src, []int{0}, time.Microsecond, 16)
	for src.reads.Load() < 100 {
		time.Sleep(time.Millisecond)
		if time.Since(src.start) > 30*time.Second {
			t.Fatalf("%d reads in half a minute", src.reads.Load())
		}
	}
	s.Stop()
	if n := len(s.samples[0]); n > 16 {
		t.Errorf("%d samples are kept", n)
	}
	if !slices.IsSortedFunc(s.samples[0], func(a, b Reading) int { return int(a.Time - b.Time) }) {
		t.Error("out of order")
	}
}

func TestThrottledAndClockless(t *testing.T) {
	s := &Sampler{from: &steady{devices: []Device{{Index: 3}}}, which: []int{0}, samples: [][]Reading{{{Time: 100, Throttle: 5, GPU: math.NaN()}, {Time: 110, Throttle: 1}}}}
	x := emptyTrace(90, 1000)
	s.AddTo(x)
	if len(x.Problems) != 1 || x.Problems[0].Count != 1 || !strings.Contains(x.Problems[0].Text, "GPU 3 ran below its clocks in 1 of 2 samples: power cap") {
		t.Errorf("%+v", x.Problems)
	}
	y := emptyTrace(0, 1000)
	s.AddTo(y)
	if len(y.Counters) != 0 || len(y.Problems) != 1 {
		t.Errorf("%+v", y)
	}
}

func TestVisible(t *testing.T) {
	d := []Device{{Index: 0, UUID: "GPU-aaaa"}, {Index: 1, UUID: "GPU-bbbb"}, {Index: 2, UUID: "GPU-cccc"}}
	for list, want := range map[string][]int{"": {0, 1, 2}, " ": {0, 1, 2}, "2,0": {2, 0}, "GPU-bb": {1}, "1,-1,0": {1}, "7": nil, "NoDevFiles": nil, "1,1": {1}, "0, GPU-cccc": {0, 2}} {
		if got := Visible(d, list); !slices.Equal(got, want) {
			t.Errorf("%q: %v", list, got)
		}
	}
}
