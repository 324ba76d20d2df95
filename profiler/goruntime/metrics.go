package goruntime

import (
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// DefaultInterval is how often Metrics reads by default.
const DefaultInterval = 10 * time.Millisecond

// maxReadings bounds a series; when it is full every other reading is dropped and from then on only every other one is
// kept, so that a recording of any length fits and stays evenly covered. It is even.
const maxReadings = 1 << 15

// Metrics is the source of curves (heap, resident size, goroutines) and of garbage collections.
type Metrics struct {
	Interval time.Duration // 0 is DefaultInterval
	Memory   bool          // heap and resident size
	Runtime  bool          // goroutines, garbage collections, pauses

	stop chan struct{}
	done sync.WaitGroup

	// mu guards the rest from Start to the end of Stop.
	mu       sync.Mutex
	samples  []metrics.Sample
	series   []series
	times    []int64
	rss      *residentSize
	gc       *collections
	stride   int // a reading is kept every stride ticks
	tick     int
	problems []trace.Problem
}

// series is one curve: value computes its current value from the samples read.
type series struct {
	name, unit string
	value      func(m *Metrics) float64
	values     []float64
}

// Indexes into Metrics.samples.
const (
	heapObjects = iota
	heapGoal
	heapLive
	totalMemory
	releasedMemory
	goroutineCount
	gcCycles
	gcDedicated
	maxProcs
	numSamples
)

var sampleNames = [numSamples]string{
	heapObjects:    "/memory/classes/heap/objects:bytes",
	heapGoal:       "/gc/heap/goal:bytes",
	heapLive:       "/gc/heap/live:bytes",
	totalMemory:    "/memory/classes/total:bytes",
	releasedMemory: "/memory/classes/heap/released:bytes",
	goroutineCount: "/sched/goroutines:goroutines",
	gcCycles:       "/gc/cycles/total:gc-cycles",
	gcDedicated:    "/cpu/classes/gc/mark/dedicated:cpu-seconds",
	maxProcs:       "/sched/gomaxprocs:threads",
}

func (m *Metrics) number(i int) float64 {
	switch v := m.samples[i].Value; v.Kind() {
	case metrics.KindUint64:
		return float64(v.Uint64())
	case metrics.KindFloat64:
		return v.Float64()
	}
	return 0
}

func metric(i int) func(*Metrics) float64 { return func(m *Metrics) float64 { return m.number(i) } }

// Start takes a first reading and starts the ticker.
func (m *Metrics) Start() error {
	if m.Interval <= 0 {
		m.Interval = DefaultInterval
	}
	m.samples = make([]metrics.Sample, numSamples)
	for i, n := range sampleNames {
		m.samples[i].Name = n
	}
	m.stride = 1
	if m.Memory {
		m.series = append(m.series,
			series{name: trace.CounterGoHeap, unit: "bytes", value: metric(heapObjects)},
			series{name: "Go heap goal", unit: "bytes", value: metric(heapGoal)},
			series{name: "Go memory held", unit: "bytes", value: func(m *Metrics) float64 { return m.number(totalMemory) - m.number(releasedMemory) }})
		rss, err := openResidentSize()
		if err != nil {
			m.problems = append(m.problems, trace.Problem{Kind: "no-rss", Count: 1, Text: "The resident size was not recorded: " + err.Error() + ".",
				Remedy: "It is read from /proc/self/statm, which Linux has."})
		} else {
			m.rss = rss
			m.series = append(m.series, series{name: "Resident size", unit: "bytes", value: func(m *Metrics) float64 { return m.rss.read() }})
		}
	}
	if m.Runtime {
		m.series = append(m.series, series{name: "Goroutines", unit: "count", value: metric(goroutineCount)})
		m.gc = new(collections)
	}
	m.read()
	if m.gc != nil {
		m.gc.begin(m)
	}
	m.stop = make(chan struct{})
	m.done.Add(1)
	go m.run()
	return nil
}

// Stop ends the ticker.
func (m *Metrics) Stop() error {
	if m.stop == nil {
		return nil
	}
	close(m.stop)
	m.done.Wait()
	m.stop = nil
	if m.rss != nil {
		m.rss.close()
	}
	return nil
}

// Open takes the reading that stands at the start of the window.
func (m *Metrics) Open() { m.extra() }

// Close takes the reading that stands at its end.
func (m *Metrics) Close() { m.extra() }

// extra takes a reading that is kept whatever the stride.
func (m *Metrics) extra() {
	m.mu.Lock()
	defer m.mu.Unlock()
	tick := m.tick
	m.tick = 0
	m.read()
	m.tick = tick
}

func (m *Metrics) run() {
	defer m.done.Done()
	t := time.NewTicker(m.Interval)
	defer t.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-t.C:
			m.mu.Lock()
			m.read()
			m.mu.Unlock()
		}
	}
}

// read takes one reading of everything.
func (m *Metrics) read() {
	metrics.Read(m.samples)
	now := record.Now()
	if m.gc != nil {
		m.gc.look(m)
	}
	m.tick++
	if (m.tick-1)%m.stride != 0 {
		return
	}
	if len(m.times) == maxReadings {
		m.thin()
	}
	m.times = append(m.times, now)
	for i := range m.series {
		s := &m.series[i]
		s.values = append(s.values, s.value(m))
	}
}

// thin drops every other reading.
func (m *Metrics) thin() {
	for i := range maxReadings / 2 {
		m.times[i] = m.times[2*i]
		for k := range m.series {
			m.series[k].values[i] = m.series[k].values[2*i]
		}
	}
	m.times = m.times[:maxReadings/2]
	for k := range m.series {
		m.series[k].values = m.series[k].values[:maxReadings/2]
	}
	m.stride *= 2
	m.tick = 1
}

// AddTo adds the curves and the collections that lie in w.
func (m *Metrics) AddTo(t *trace.Trace, w record.Window) error {
	p := hostProcess(t)
	// The last reading before the window and the first after it, taken by Open and Close, stand at its ends.
	from, _ := slices.BinarySearch(m.times, w.Start)
	to, _ := slices.BinarySearch(m.times, w.End+1)
	from, to = max(0, from-1), min(len(m.times), to+1)
	for i := range m.series {
		s := &m.series[i]
		c := counterOf(t, p, s.name, s.unit)
		for j := from; j < to; j++ {
			c.Times = append(c.Times, w.Time(min(max(m.times[j], w.Start), w.End)))
			c.Values = append(c.Values, s.values[j])
		}
	}
	if m.gc != nil {
		m.gc.addTo(t, p, w)
	}
	for _, q := range m.problems {
		t.Problem(q.Kind, q.Count, q.Text, q.Remedy)
	}
	return nil
}

// counterOf returns the counter of that name, which an earlier cycle may have begun.
func counterOf(t *trace.Trace, p trace.ProcessID, name, unit string) *trace.Counter {
	i := slices.IndexFunc(t.Counters, func(c trace.Counter) bool { return c.Name == name && c.Process == p && c.Device == trace.NoDevice })
	if i < 0 {
		i = len(t.Counters)
		t.Counters = append(t.Counters, trace.Counter{Name: name, Unit: unit, Process: p, Track: trace.NoTrack, Device: trace.NoDevice})
	}
	return &t.Counters[i]
}
