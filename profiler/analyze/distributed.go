package analyze

import "github.com/gander-go/gander/profiler/trace"

// CommOp is one collective of one worker. Times are ns, sizes bytes, summed over its calls.
type CommOp struct {
	Name         string `json:"name"`
	Calls        int64  `json:"calls"`
	Bytes        int64  `json:"bytes"`
	Latency      int64  `json:"latency"`
	DataTransfer int64  `json:"data_transfer"` // the part all workers took part in
}

// Worker is one rank's share of the distributed view.
type Worker struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Devices []string `json:"devices"`

	// Average ns a step: Computation + Overlap + Communication + Other is the step.
	Computation   float64 `json:"computation"`   // device work without communication at the same time
	Overlap       float64 `json:"overlap"`       // both
	Communication float64 `json:"communication"` // communication without computation at the same time
	Other         float64 `json:"other"`
	Synchronizing float64 `json:"synchronizing"` // part of all communication: waiting for the slowest worker
	DataTransfer  float64 `json:"data_transfer"` // the rest of it

	Ops []CommOp `json:"ops"`
}

// DistributedReport is the distributed view over several ranks.
type DistributedReport struct {
	Backend string   `json:"backend"`
	Workers []Worker `json:"workers"`
	Reason  string   `json:"reason,omitempty"` // why there is no view, or what limits it
}

// Distributed returns the distributed view over ts, one trace per rank.
func Distributed(ts []*trace.Trace) *DistributedReport { return &DistributedReport{} }

// Text returns the workers as tables.
func (r *DistributedReport) Text() string { return "" }
