package analyze

import (
	"io"

	"github.com/gander-go/gander/profiler/trace"
)

// FlameMetric is what the width of a flame graph's node means.
type FlameMetric uint8

const (
	FlameTime   FlameMetric = iota // ns of host time by nesting of slices
	FlameDevice                    // ns of device time of the work launched below
	FlameCPU                       // CPU samples, ns
	FlameAlloc                     // bytes allocated
	FlameInUse                     // bytes in use
	FlameBlock                     // ns blocked
	FlameMutex                     // ns waiting for mutexes
)

// FlameOptions choose what Flame counts.
type FlameOptions struct {
	Metric   FlameMetric
	Track    trace.TrackID // with OneTrack
	OneTrack bool
	From, To int64 // ns; both 0 is everything
	// MinShare drops nodes below that share of the whole; their weight stays in their parents' self. 0 keeps all.
	MinShare float64
}

// FlameNode is a node of FlameGraph.
type FlameNode struct {
	Name   int32 `json:"n"` // index in FlameGraph.Names
	Parent int32 `json:"p"` // -1 for the root
	Total  int64 `json:"t"`
	Self   int64 `json:"s"`
	Count  int64 `json:"c"` // calls or samples
	Depth  int32 `json:"d"`
}

// FlameGraph is a merged call tree in pre-order: children follow their parent, largest first. Node 0 is the root.
type FlameGraph struct {
	Metric FlameMetric `json:"metric"`
	Unit   string      `json:"unit"` // "ns", "bytes"
	Names  []string    `json:"names"`
	Nodes  []FlameNode `json:"nodes"`
}

// Flame returns the flame graph of t.
func Flame(t *trace.Trace, o FlameOptions) *FlameGraph { return Of(t).Flame(o) }

// Flame returns the flame graph.
func (a *Analysis) Flame(o FlameOptions) *FlameGraph { return &FlameGraph{} }

// WriteStacks writes collapsed stacks for flamegraph.pl, speedscope and others: frames from the outermost joined by ';',
// a space, and an integer. The metric is one of torch's ("self_cpu_time_total", "self_cuda_time_total" and its device_
// spellings, in microseconds, from the events' call stacks or, without these, their nesting) or "samples" (CPU samples in ns).
func (a *Analysis) WriteStacks(w io.Writer, metric string) error { return nil }

// WriteStacks writes collapsed stacks of t.
func WriteStacks(w io.Writer, t *trace.Trace, metric string) error {
	return Of(t).WriteStacks(w, metric)
}
