package analyze

import (
	"sync"

	"github.com/gander-go/gander/profiler/trace"
)

// Analysis computes the views of one trace and keeps what they share. It is safe for concurrent use. The trace must not
// change while an Analysis of it is in use.
type Analysis struct {
	Trace *trace.Trace

	once sync.Once
	idx  *index

	treesMu sync.Mutex
	trees   map[bool]*opTree // by whether it is the plugin's; guarded by treesMu
}

// Of returns the analysis of t. It does no work yet.
func Of(t *trace.Trace) *Analysis { return &Analysis{Trace: t} }

// Convention names whose arithmetic a view follows where the peers disagree.
type Convention uint8

const (
	// Exact is the default: unrounded times, unions where time can overlap, nothing dropped without being counted.
	Exact Convention = iota
	// Torch is torch.profiler's: device time is a sum, CPU and device rows share one table.
	Torch
	// HTA is Holistic Trace Analysis': starts are rounded up and ends down to whole microseconds when the trace holds
	// fractions, and the last ProfilerStep is left out.
	HTA
	// Plugin is the TensorBoard plugin's.
	Plugin
)
