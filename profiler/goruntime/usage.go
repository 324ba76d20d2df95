package goruntime

import (
	"runtime"
	"strconv"

	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// Usage is the source of exact totals of the whole process: CPU time, IO and context switches from the operating system,
// allocations and collections from the runtime. They end in Meta.Values under the names of its keys, and cover the time
// from Open to Close, which a profile calls at the very ends of its window, so that what other sources do when they start
// and stop is not counted.
type Usage struct {
	before, after totals
}

// totals are what Usage reads.
type totals struct {
	Resources
	allocBytes, allocObjects, freedObjects uint64
	collections                            uint32
	pauses                                 uint64 // ns
	ok                                     bool
}

// Resources is what the operating system counts for the process.
type Resources struct {
	UserTime, SystemTime  int64 // ns
	MinorFaults, Faults   int64
	BlocksIn, BlocksOut   int64 // of 512 bytes, from and to storage
	Switches, Preemptions int64 // voluntary and involuntary context switches
}

// Sub returns what happened from before to r.
func (r Resources) Sub(before Resources) Resources {
	return Resources{
		r.UserTime - before.UserTime, r.SystemTime - before.SystemTime, r.MinorFaults - before.MinorFaults, r.Faults - before.Faults,
		r.BlocksIn - before.BlocksIn, r.BlocksOut - before.BlocksOut, r.Switches - before.Switches, r.Preemptions - before.Preemptions,
	}
}

// Start does nothing.
func (u *Usage) Start() error { return nil }

// Stop does nothing.
func (u *Usage) Stop() error { return nil }

// Open reads the totals before.
func (u *Usage) Open() { u.before = readTotals() }

// Close reads the totals after.
func (u *Usage) Close() { u.after = readTotals() }

// readTotals stops the world for a moment, which is what makes the figures exact.
func readTotals() totals {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r, ok := ReadResources()
	return totals{r, m.TotalAlloc, m.Mallocs, m.Frees, m.NumGC, m.PauseTotalNs, ok}
}

// AddTo adds the differences to t.Meta.Values; those of several cycles add up.
func (u *Usage) AddTo(t *trace.Trace, _ record.Window) error {
	b, a := &u.before, &u.after
	add(t, "alloc_bytes", int64(a.allocBytes-b.allocBytes))
	add(t, "alloc_objects", int64(a.allocObjects-b.allocObjects))
	add(t, "freed_objects", int64(a.freedObjects-b.freedObjects))
	add(t, "gc_cycles", int64(a.collections-b.collections))
	add(t, "gc_pause_ns", int64(a.pauses-b.pauses))
	if !a.ok {
		t.Problem("no-rusage", 1, "CPU time, IO and context switches of the process were not recorded.", "They are read on Linux only.")
		return nil
	}
	d := a.Resources.Sub(b.Resources)
	add(t, "cpu_user_ns", d.UserTime)
	add(t, "cpu_system_ns", d.SystemTime)
	add(t, "page_faults_minor", d.MinorFaults)
	add(t, "page_faults_major", d.Faults)
	add(t, "io_blocks_in", d.BlocksIn)
	add(t, "io_blocks_out", d.BlocksOut)
	add(t, "context_switches_voluntary", d.Switches)
	add(t, "context_switches_involuntary", d.Preemptions)
	return nil
}

// add adds n to the value called key.
func add(t *trace.Trace, key string, n int64) {
	for i := range t.Meta.Values {
		v := &t.Meta.Values[i]
		if v.Key == key {
			old, err := strconv.ParseInt(v.Value, 10, 64)
			if err == nil {
				v.Value = strconv.FormatInt(old+n, 10)
			}
			return
		}
	}
	t.Meta.Values = append(t.Meta.Values, trace.KeyValue{Key: key, Value: strconv.FormatInt(n, 10)})
}
