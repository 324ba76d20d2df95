package analyze

import "github.com/gander-go/gander/profiler/trace"

// GPU holds the metrics of one device within the steps' window. A ratio is negative when it cannot be known.
type GPU struct {
	Device       trace.DeviceID `json:"-"`
	ID           int64          `json:"id"`
	Name         string         `json:"name"`
	Memory       int64          `json:"memory"`     // bytes
	Capability   string         `json:"capability"` // "8.0"
	Utilization  float64        `json:"utilization"`
	BusyRatio    float64        `json:"busy"`          // as Utilization, with copies and sets
	SMEfficiency float64        `json:"sm_efficiency"` // estimate
	Occupancy    float64        `json:"occupancy"`     // estimate, percent of threads
	TensorCores  float64        `json:"tensor_cores"`  // share of the time of kernels launched by operators, plugin's name list
	TensorCores2 float64        `json:"tensor_cores_current"`
	KernelTime   int64          `json:"kernel_time"` // ns, union

	// Curves over the whole trace: one value per Bucket ns from Start.
	Start       int64     `json:"start"`
	Bucket      int64     `json:"bucket"`
	UtilCurve   []float64 `json:"util_curve"`
	SMEffTimes  []int64   `json:"sm_times"` // step function: value i holds from time i
	SMEffValues []float64 `json:"sm_values"`
}

// OverviewReport is the plugin's front page.
type OverviewReport struct {
	Steps       *StepReport `json:"steps"`
	GPUs        []GPU       `json:"gpus"`
	DeviceType  string      `json:"device_type"` // "GPU" or "CPU"
	Workers     int         `json:"workers"`
	Span        int64       `json:"span"`        // ns
	HostBusy    int64       `json:"host_busy"`   // ns: union of operators, annotations and calls on any thread
	DeviceBusy  int64       `json:"device_busy"` // ns: union per device, summed
	SyncTime    int64       `json:"sync_time"`   // ns: host time in synchronising calls, union per thread, summed
	GC          int64       `json:"gc"`          // ns of GC cycles, union
	STW         int64       `json:"stw"`         // ns of stop-the-world pauses, union
	Events      int         `json:"events"`      // slices
	PeakHost    int64       `json:"peak_host"`   // bytes
	PeakDevice  int64       `json:"peak_device"` // bytes
	Distributed bool        `json:"distributed"` // part of a job of more than one rank
}

// Overview returns the front page's figures of t.
func Overview(t *trace.Trace) *OverviewReport { return Of(t).Overview() }

// Overview returns the front page's figures.
func (a *Analysis) Overview() *OverviewReport { return &OverviewReport{} }

// Text returns the overview as lines and a table.
func (r *OverviewReport) Text() string { return "" }
