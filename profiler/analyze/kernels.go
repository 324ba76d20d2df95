package analyze

import "github.com/gander-go/gander/profiler/trace"

// Kernel is one row of the kernel view.
type Kernel struct {
	Name         string  `json:"name"`
	TensorCores  bool    `json:"tensor_cores"`         // by the plugin's list of names
	TensorCores2 bool    `json:"tensor_cores_current"` // by a list that knows Hopper and later
	Calls        int64   `json:"calls"`
	Total        int64   `json:"total"` // ns
	Min          int64   `json:"min"`
	Max          int64   `json:"max"`
	BlocksPerSM  float64 `json:"blocks_per_sm"` // weighted by duration; negative when unknown
	Occupancy    float64 `json:"occupancy"`     // percent, weighted by duration, estimate; negative when unknown

	// Set in the rows by operator and launch parameters.
	Operator   string   `json:"operator,omitempty"`
	TCEligible bool     `json:"tc_eligible,omitempty"` // the operator could use tensor cores
	Grid       [3]int32 `json:"grid"`
	Block      [3]int32 `json:"block"`
	Registers  int32    `json:"registers"`     // per thread
	SharedMem  int32    `json:"shared_memory"` // bytes
}

// Mean is the mean duration in ns.
func (k *Kernel) Mean() float64 { return ratio(k.Total, k.Calls) }

// KernelReport is the kernel view; copies and sets are not kernels. Rows are ordered by total time.
type KernelReport struct {
	ByName  []Kernel `json:"by_name"`
	ByOp    []Kernel `json:"by_operator"`      // by name, operator and launch parameters
	TCTime  int64    `json:"tensor_core_time"` // ns in tensor-core kernels, all kernels counted, plugin's list
	TCTime2 int64    `json:"tensor_core_time_current"`
	Time    int64    `json:"time"` // ns in all kernels, sum
	Copies  []Copy   `json:"copies"`
}

// Copy is one kind of copy or set.
type Copy struct {
	Name      string  `json:"name"`
	Calls     int64   `json:"calls"`
	Total     int64   `json:"total"` // ns
	Bytes     int64   `json:"bytes"`
	Bandwidth float64 `json:"bandwidth"` // GB/s over its own time
}

// Kernels returns the kernel view of t.
func Kernels(t *trace.Trace) *KernelReport { return Of(t).Kernels() }

// Kernels returns the kernel view.
func (a *Analysis) Kernels() *KernelReport { return &KernelReport{} }

// Text returns the rows by name as a table of at most limit rows; 0 or less is all.
func (r *KernelReport) Text(limit int) string { return "" }
