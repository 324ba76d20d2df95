package analyze

import "github.com/gander-go/gander/profiler/trace"

// StepPart is what a moment of a step is put down to. Lower values win where several are true at once.
type StepPart int

const (
	PartKernel StepPart = iota
	PartMemcpy
	PartMemset
	PartComm
	PartRuntime
	PartDataLoader
	PartCPU
	PartOther
	NumStepParts
)

var stepPartNames = [NumStepParts]string{"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"}

// String returns the plugin's name of the part.
func (p StepPart) String() string { return stepPartNames[p] }

// Step is one step of the schedule, extended to the end of the device work launched in it.
type Step struct {
	Name      string              `json:"name"`  // "5" of ProfilerStep#5
	Start     int64               `json:"start"` // ns
	End       int64               `json:"end"`
	Parts     [NumStepParts]int64 `json:"parts"` // ns; their sum is End-Start
	DeviceOps int                 `json:"device_ops"`
	GC        int64               `json:"gc"`  // ns of garbage collection cycles in the step; overlaps the parts
	STW       int64               `json:"stw"` // ns of stop-the-world pauses in the step; overlaps the parts
}

// Total is the wall time of the step in ns.
func (s *Step) Total() int64 { return s.End - s.Start }

// StepReport breaks steps down. Without ProfilerStep events it holds one step "0" that spans the trace.
type StepReport struct {
	Steps   []Step                `json:"steps"`
	Average [NumStepParts]float64 `json:"average"` // ns a step
	Mean    float64               `json:"mean"`    // ns: mean wall time of a step
	Dropped []string              `json:"dropped"` // trailing steps left out because their device work is missing or incomplete
	Real    bool                  `json:"real"`    // the steps were recorded, not made up

	HasComm, HasRuntime, HasKernel, HasCopy bool `json:"-"`
}

// Steps returns the steps of t.
func Steps(t *trace.Trace) *StepReport { return Of(t).Steps() }

// Steps returns the steps of the trace by the plugin's rules.
func (a *Analysis) Steps() *StepReport { return &StepReport{} }

// Text returns the steps as a table.
func (r *StepReport) Text() string { return "" }
