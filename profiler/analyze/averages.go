package analyze

import (
	"github.com/gander-go/gander/profiler/trace"
)

// Side says where the time of a row was spent.
type Side uint8

const (
	SideCPU Side = iota
	SideDevice
)

// String returns "CPU" or "device".
func (s Side) String() string {
	if s == SideDevice {
		return "device"
	}
	return "CPU"
}

// KeyOptions choose what KeyAverages groups by. The zero value groups by name.
type KeyOptions struct {
	// Convention is Exact or Torch. Torch reproduces key_averages(): the same events, collapse and attribution.
	Convention Convention
	ByShape    bool // one row per combination of input shapes
	ByStack    int  // one row per innermost n stack frames; 0 is off
	ByOverload bool // one row per operator overload
	ByTrack    bool // one row per thread, goroutine or stream
	ByStep     bool // one row per step of the schedule

	// Python lets recorded Python calls take their time and memory from the ranges and operators around them, by the Torch
	// convention: so does torch 2.15, while 2.10 did not know of them. They have no rows either way.
	Python bool

	// FLOPs counts by torch's formulas what an imported trace has shapes of, even if it was recorded without with_flops.
	FLOPs bool
}

// Average is one row of key averages: every event of one key. Totals of recursive calls double count, as torch's do;
// self times never do.
type Average struct {
	Key      string        `json:"key"`
	Side     Side          `json:"-"`
	Device   string        `json:"device"` // "CPU", "CUDA", "MTIA", …
	Class    trace.Class   `json:"-"`      // of the first member
	Overload string        `json:"overload_name,omitempty"`
	Shapes   string        `json:"input_shapes"`
	Stack    []string      `json:"stack,omitempty"` // innermost first
	Track    trace.TrackID `json:"-"`               // set when grouped by track, else NoTrack
	Thread   string        `json:"thread,omitempty"`
	Step     string        `json:"step,omitempty"`
	Async    bool          `json:"async,omitempty"` // started and ended on different threads: no self time
	User     bool          `json:"-"`               // a user annotation
	TopLevel bool          `json:"-"`               // the first member has no caller

	Count       int64 `json:"count"`
	Untimed     int64 `json:"untimed_calls,omitempty"` // of Count those that were counted and not timed: they are in no time
	CPUTotal    int64 `json:"cpu_time_total"`          // ns
	SelfCPU     int64 `json:"self_cpu_time_total"`     // ns
	DeviceTotal int64 `json:"device_time_total"`       // ns, sum: overlapping streams count twice
	SelfDevice  int64 `json:"self_device_time_total"`  // ns, sum
	DeviceUnion int64 `json:"device_time_union"`       // ns during which device work of this row and what it called ran; Exact only

	CPUMemory        int64 `json:"cpu_memory_usage"` // bytes, releases count negative
	SelfCPUMemory    int64 `json:"self_cpu_memory_usage"`
	DeviceMemory     int64 `json:"device_memory_usage"`
	SelfDeviceMemory int64 `json:"self_device_memory_usage"`

	FLOPs int64 `json:"flops"`
	About int64 `json:"flops_estimated,omitempty"` // of FLOPs those that are an estimate: the work depends on the data
	Bytes int64 `json:"bytes_accessed"`            // bytes read and written as the source reports

	OS *OSCounts `json:"os,omitempty"` // what the operating system counted, nil when it was not asked

	// Distribution of one call's duration in ns (host time for CPU rows, device time for device rows). Exact only.
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	P50    int64   `json:"p50"`
	P90    int64   `json:"p90"`
	P99    int64   `json:"p99"`
	StdDev float64 `json:"stddev"`

	First int32 `json:"-"` // index in Trace.Slices of the first member, NoSlice for memory rows
}

// CPUAvg is the mean host time of a timed call in ns.
func (a *Average) CPUAvg() float64 { return ratio(a.CPUTotal, a.Count-a.Untimed) }

// DeviceAvg is the mean device time of a call in ns.
func (a *Average) DeviceAvg() float64 { return ratio(a.DeviceTotal, a.Count) }

func ratio(a, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(a) / float64(n)
}

// Averages is the result of KeyAverages.
type Averages struct {
	Options KeyOptions
	Rows    []Average // in order of first appearance until Sort

	DeviceName string // torch's name of the device: "CUDA", "MTIA", …; empty without device work
	HasMemory  bool   // memory events were recorded
	HasStacks  bool
	HasFLOPs   bool
	HasOS      bool // some rows have the operating system's counts
	FromShapes bool // FLOPs were counted from shapes, by torch's formulas

	SelfCPUTotal    int64 // ns: sum of SelfCPU over the host rows that count
	SelfDeviceTotal int64 // ns: sum of SelfDevice over the device rows that count
	DeviceBusy      int64 // ns: union of device work over all devices (per device, summed)
	Span            int64 // ns from the first start to the last end

	Losses []trace.Problem // what was dropped or repaired on the way here
}

// Counts reports whether a row is part of the totals that percentages are of. Ranges on the device are not: they overlap
// the work in them. Nor are, but in the Torch convention, the profiler's own overhead and synchronisation events.
func (a *Averages) Counts(r *Average) bool {
	if a.Options.Convention == Torch {
		return r.Side == SideCPU || !r.User
	}
	return r.Class != trace.ClassOverhead && r.Class != trace.ClassSync && (r.Side == SideCPU || !r.User)
}

// TableOptions shape the text of Averages.Table. The zero value is torch's default.
type TableOptions struct {
	Sort           string // a key of SortKeys or one of torch's spellings; empty keeps the order
	RowLimit       int    // rows printed; 0 is 100, negative is all
	TopLevelOnly   bool
	TimeUnit       string // "us", "ms", "s", or empty for one per cell
	Header         string
	MaxNameWidth   int // 0 is 55, negative is unlimited
	MaxShapesWidth int // 0 is 80
	MaxSourceWidth int // 0 is 75
	// Columns is Torch for torch's own table, byte by byte, or Exact for separate tables of host and device with
	// minimum, percentiles and maximum.
	Columns Convention
}

// KeyAverages groups the events of t as o says.
func KeyAverages(t *trace.Trace, o KeyOptions) *Averages { return Of(t).KeyAverages(o) }
