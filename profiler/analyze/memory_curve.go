package analyze

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// spacePeak is the most memory that was in use at once.
type spacePeak struct {
	space  trace.MemSpace
	device trace.DeviceID
	peak   int64
}

// peaks returns the peak of every memory space.
func (a *Analysis) peaks() []spacePeak {
	var out []spacePeak
	running := []int64{}
	for i := range a.Trace.Memory {
		m := &a.Trace.Memory[i]
		if m.OOM {
			continue
		}
		n := 0
		for n < len(out) && (out[n].space != m.Space || out[n].device != m.Device) {
			n++
		}
		if n == len(out) {
			out = append(out, spacePeak{m.Space, m.Device, 0})
			running = append(running, 0)
		}
		running[n] += m.Bytes
		if m.Allocated >= 0 {
			running[n] = m.Allocated
		}
		out[n].peak = max(out[n].peak, running[n])
	}
	return out
}

// heapCurves returns the sampled sizes of memory in use on the host: heap, resident set.
func (a *Analysis) heapCurves() []HeapCurve {
	var out []HeapCurve
	for i := range a.Trace.Counters {
		c := &a.Trace.Counters[i]
		if c.Unit != "bytes" || c.Device != trace.NoDevice || !memoryCounter(c.Name) {
			continue
		}
		h := HeapCurve{Name: c.Name, Times: c.Times, Values: c.Values}
		for _, v := range c.Values {
			h.Peak = max(h.Peak, v)
		}
		out = append(out, h)
	}
	return out
}

// memoryCounter reports whether a counter in bytes is an amount in use, not a rate or a total of allocations.
func memoryCounter(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"total alloc", "allocated total", "cumulative", "allocs", "goal", "read", "written", "sent", "received"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	return true
}
