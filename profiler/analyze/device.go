package analyze

import "github.com/gander-go/gander/profiler/trace"

// TemporalReport splits the time between the first and the last device work. Times are ns.
type TemporalReport struct {
	Kernel     int64 `json:"kernel_time"` // last end - first start
	Idle       int64 `json:"idle_time"`
	Compute    int64 `json:"compute_time"`     // union of computing kernels
	NonCompute int64 `json:"non_compute_time"` // copies and communication that no computing kernel covers
}

// Temporal returns where device time went. c is Exact or HTA.
func Temporal(t *trace.Trace, c Convention) *TemporalReport { return Of(t).Temporal(c) }

// IdleCause is why a stream stood still.
type IdleCause uint8

const (
	IdleHost   IdleCause = iota // the next launch came after the previous work had ended
	IdleKernel                  // the gap is below the delay between kernels launched back to back
	IdleOther
	NumIdleCauses
)

// String returns HTA's name of the cause.
func (c IdleCause) String() string { return [...]string{"host_wait", "kernel_wait", "other"}[c] }

// MarshalText makes JSON hold the name.
func (c IdleCause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// CauseTimes holds a number by cause. In JSON it is an object with the causes' names.
type CauseTimes [NumIdleCauses]int64

// MarshalJSON writes the causes by name.
func (c CauseTimes) MarshalJSON() ([]byte, error) {
	return marshalNamed([]string{IdleHost.String(), IdleKernel.String(), IdleOther.String()}, c[:])
}

// StreamIdle is the idle time of one stream by cause.
type StreamIdle struct {
	Track   trace.TrackID       `json:"-"`
	Stream  int64               `json:"stream"`
	Device  int64               `json:"device"`
	Time    CauseTimes          `json:"time"` // ns
	Count   CauseTimes          `json:"count"`
	Seen    [NumIdleCauses]bool `json:"-"`    // the cause occurs, if only with 0 ns
	Span    int64               `json:"span"` // ns from the first start to the last end
	Busy    int64               `json:"busy"` // ns, union
	Longest []Gap               `json:"longest"`
}

// Gap is one idle interval.
type Gap struct {
	Start  int64     `json:"start"` // ns
	End    int64     `json:"end"`
	Cause  IdleCause `json:"cause"`
	Before int32     `json:"-"` // slice that ended
	After  int32     `json:"-"` // slice that started
}

// IdleOptions choose the thresholds of Idle.
type IdleOptions struct {
	Convention Convention
	KernelGap  int64 // ns; 0 is DefaultKernelGap
	Longest    int   // gaps kept per stream, 0 is 10
}

// DefaultKernelGap is the gap in ns below which consecutive kernels count as back to back: HTA's 30, which its
// documentation calls nanoseconds and its code compares with microseconds.
const DefaultKernelGap = 30_000

// IdleReport is the idle time of every stream.
type IdleReport struct {
	Streams []StreamIdle `json:"streams"`
}

// Idle returns the idle time by stream and cause.
func Idle(t *trace.Trace, o IdleOptions) *IdleReport { return Of(t).Idle(o) }

// Launch is one runtime call with the device work it caused. Times are ns.
type Launch struct {
	Corr   int64 `json:"correlation"`
	Call   int32 `json:"-"` // slice
	Work   int32 `json:"-"` // slice
	CPU    int64 `json:"cpu_duration"`
	Device int64 `json:"device_duration"`
	Delay  int64 `json:"launch_delay"` // from the end of the call to the start of the work, never negative
}

// LaunchOptions choose the thresholds of Launches; 0 is the default (HTA's).
type LaunchOptions struct {
	Convention   Convention
	CallOutlier  int64 // ns, 50 us
	DelayOutlier int64 // ns, 100 us
}

// LaunchReport joins launches and device work.
type LaunchReport struct {
	Launches   []Launch `json:"launches"`
	Short      int      `json:"short"`           // device work shorter than its call, and the call within the cutoff
	SlowCalls  int      `json:"slow_calls"`      // calls longer than CallOutlier
	SlowDelays int      `json:"slow_delays"`     // delays longer than DelayOutlier
	CPU        int64    `json:"cpu_duration"`    // ns, sum over the calls
	Device     int64    `json:"device_duration"` // ns, sum
	Delay      int64    `json:"launch_delay"`    // ns, sum
	Unlinked   int      `json:"unlinked"`        // device work whose launch was not recorded
}

// Launches returns launch statistics.
func Launches(t *trace.Trace, o LaunchOptions) *LaunchReport { return Of(t).Launches(o) }

// Queue is the number of launched and not yet started pieces of work of one stream over time.
type Queue struct {
	Track  trace.TrackID `json:"-"`
	Stream int64         `json:"stream"`
	Device int64         `json:"device"`
	Times  []int64       `json:"times"`
	Length []int32       `json:"length"`
	Max    int32         `json:"max"`
	Mean   float64       `json:"mean"` // over the recorded changes, as HTA's
	StdDev float64       `json:"stddev"`
	P25    float64       `json:"p25"`
	P50    float64       `json:"p50"`
	P75    float64       `json:"p75"`
	Full   int64         `json:"full"` // ns at the limit: launches block
}

// QueueLimit is the number of launches a CUDA stream takes before it blocks the caller.
const QueueLimit = 1024

// QueueLength returns the queue of every stream; limit 0 is QueueLimit.
func QueueLength(t *trace.Trace, limit int) []Queue { return Of(t).QueueLength(limit, Exact) }

// OverlapReport says how much communication was hidden behind computation. Times are ns.
type OverlapReport struct {
	Communication int64   `json:"communication"` // union
	Computation   int64   `json:"computation"`   // union
	Both          int64   `json:"both"`
	Ratio         float64 `json:"ratio"` // Both / Communication, negative without communication
}

// Overlap returns how much communication was hidden.
func Overlap(t *trace.Trace, c Convention) *OverlapReport { return Of(t).Overlap(c) }

// KernelType is HTA's classification of device work by name.
type KernelType uint8

const (
	TypeCompute KernelType = iota
	TypeComm
	TypeMemory
	TypeOther
	NumKernelTypes
)

// String returns HTA's name of the type.
func (k KernelType) String() string {
	return [...]string{"COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"}[k]
}

// MarshalText makes JSON hold the name.
func (k KernelType) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// TypeTime is the time during which exactly a set of types ran.
type TypeTime struct {
	Types string  `json:"types"` // "COMMUNICATION overlapping COMPUTATION"
	Time  int64   `json:"time"`  // ns, union
	Share float64 `json:"share"`
}

// NamedTime is one kernel's durations in ns.
type NamedTime struct {
	Name   string     `json:"name"`
	Type   KernelType `json:"type"`
	Sum    int64      `json:"sum"`
	Count  int64      `json:"count"`
	Max    int64      `json:"max"`
	Min    int64      `json:"min"`
	Mean   float64    `json:"mean"`
	StdDev float64    `json:"stddev"`
}

// BreakdownReport splits device time by type and by kernel.
type BreakdownReport struct {
	Types   []TypeTime  `json:"types"`
	Kernels []NamedTime `json:"kernels"` // per type: the longest, then "others"
}

// BreakdownOptions choose how many kernels KernelBreakdown names.
type BreakdownOptions struct {
	Convention Convention
	PerType    int     // 0 is 10
	Ratio      float64 // stop when this share of the type's time is named; 0 goes on to PerType
}

// KernelBreakdown splits device time by type and by kernel.
func KernelBreakdown(t *trace.Trace, o BreakdownOptions) *BreakdownReport {
	return Of(t).KernelBreakdown(o)
}
