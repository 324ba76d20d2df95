package analyze

import "github.com/gander-go/gander/profiler/trace"

// EdgeKind says what a stretch of the critical path is spent on.
type EdgeKind uint8

const (
	EdgeWork         EdgeKind = iota // an operator or kernel running
	EdgeDependency                   // order on one thread, no cost
	EdgeLaunch                       // from the call to the kernel's start
	EdgeKernelKernel                 // between two kernels of a stream
	EdgeSync                         // from device work to the call that waited for it
)

// PathEdge is one stretch of the path.
type PathEdge struct {
	Kind     EdgeKind `json:"kind"`
	From, To int32    `json:"-"` // slices
	Start    int64    `json:"start"`
	End      int64    `json:"end"`
	Bound    string   `json:"bound"` // "cpu_bound", "data_loading", "gpu_compute_bound", …
}

// PathReport is the longest chain of dependent work of a range.
type PathReport struct {
	Range    string           `json:"range"` // the annotation analysed
	Start    int64            `json:"start"`
	End      int64            `json:"end"`
	Edges    []PathEdge       `json:"edges"`
	Critical []int32          `json:"-"`              // slices on the path, in time order
	Time     map[string]int64 `json:"time"`           // ns by Bound
	Note     string           `json:"note,omitempty"` // what limits the result, e.g. no synchronisation events
}

// PathOptions choose the range: the Instance-th slice (from 0) whose name starts with Annotation; empty is the whole trace.
type PathOptions struct {
	Annotation string
	Instance   int
}

// CriticalPath returns the critical path of t.
func CriticalPath(t *trace.Trace, o PathOptions) (*PathReport, error) { return Of(t).CriticalPath(o) }

// CriticalPath returns the critical path of the range. An annotation that does not occur is an error.
func (a *Analysis) CriticalPath(o PathOptions) (*PathReport, error) { return &PathReport{}, nil }

// Text returns the shares of the path as a table.
func (r *PathReport) Text() string { return "" }
