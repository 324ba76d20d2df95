package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// EdgeKind says what a stretch of the critical path is spent on.
type EdgeKind uint8

const (
	EdgeWork         EdgeKind = iota // an operator or kernel running
	EdgeDependency                   // order on one thread, no cost
	EdgeLaunch                       // from the call to the kernel's start
	EdgeKernelKernel                 // between two kernels of a stream
	EdgeSync                         // from device work to the call that waited for it
)

// String names the kind.
func (k EdgeKind) String() string {
	return [...]string{"work", "dependency", "launch", "kernel_kernel", "sync"}[k]
}

// MarshalText makes JSON hold the name.
func (k EdgeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// PathEdge is one stretch of the path.
type PathEdge struct {
	Kind     EdgeKind `json:"kind"`
	From, To int32    `json:"-"`      // slices
	Owner    int32    `json:"-"`      // slice in which, or before which, it is spent
	FromEnd  bool     `json:"-"`      // it leaves From at its end, not its start
	ToEnd    bool     `json:"-"`      // it reaches To at its end, not its start
	Weight   int64    `json:"weight"` // ns that it costs: 0 for pure order
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
	Critical []int32          `json:"-"`              // slices on the path, by start, callers first
	Time     map[string]int64 `json:"time"`           // ns by Bound
	Note     string           `json:"note,omitempty"` // what limits the result, e.g. no synchronisation events
}

// PathOptions choose the range: the Instance-th slice (from 0) whose name starts with Annotation; empty is the whole trace.
type PathOptions struct {
	Annotation string
	Instance   int
	Convention Convention // Exact, or HTA: see Analysis.CriticalPath
}

// CriticalPath returns the critical path of t.
func CriticalPath(t *trace.Trace, o PathOptions) (*PathReport, error) { return Of(t).CriticalPath(o) }

// CriticalPath returns the critical path of the range. An annotation that does not occur is an error.
//
// The graph is that of Holistic Trace Analysis:
//
//  1. Every event has a node for its start and one for its end.
//  2. On a thread each node follows the one before it, at the cost of the time between them; between one outermost event and
//     the next there is no cost (whatever the thread waited for has edges of its own), nor for waiting in a blocking call.
//  3. A kernel costs its duration. It follows its launch: at the cost of the delay if the stream was idle then, else at none,
//     and then the kernel before it on the stream, at the cost of the gap if that is short.
//  4. A wait for the device (synchronisation events) follows the device work it waited for.
//
// The path is the longest one through that graph. HTA (0.5) knows operators and runtime calls that took any time only, so that what a named
// range does between two operators costs nothing; it takes every call of the names in blockingCalls for one that waits, a
// kernel for delayed by the one before it however long the gap is, and has no edge from a launch to a kernel that had to
// queue. Exact has ranges as nodes too, asks whether a gap is short, and keeps that edge for order.
func (a *Analysis) CriticalPath(o PathOptions) (*PathReport, error) {
	b := &pathBuilder{x: a.index(), t: a.Trace, c: o.Convention}
	r := &PathReport{Range: o.Annotation, Edges: []PathEdge{}, Time: map[string]int64{}}
	if err := b.setRange(o, r); err != nil {
		return nil, err
	}
	b.host()
	b.deviceWork()
	if !b.sync {
		r.Note = "no synchronisation events were recorded: waits of the host for the device are not on the path (record them with enable_cuda_sync_events)"
	}
	b.longest(r)
	return r, nil
}

// StepPath returns the critical path of the first step, or of the whole recording when it has no steps; nil where no
// synchronisation events were recorded, without which it cannot be told.
func (a *Analysis) StepPath(c Convention) *PathReport {
	if !slices.ContainsFunc(a.Trace.Categories, func(c trace.Category) bool { return c.Class == trace.ClassSync }) {
		return nil
	}
	o := PathOptions{Convention: c}
	if len(a.index().stepRanges()) > 0 {
		o.Annotation = stepPrefix
	}
	r, err := a.CriticalPath(o)
	if err != nil || r.Note != "" {
		return nil
	}
	return r
}

// PathCost is what one event, or the wait before it, costs on a critical path.
type PathCost struct {
	Name  string `json:"name"`
	Bound string `json:"bound"`
	Time  int64  `json:"time"`  // ns
	Count int64  `json:"count"` // stretches of the path
}

// Costs returns what the path is made of, by name and bound, the dearest first. t is the trace that it was found in.
func (r *PathReport) Costs(t *trace.Trace) []PathCost {
	type key struct{ name, bound string }
	at := map[key]int{}
	var out []PathCost
	for _, e := range r.Edges {
		if e.Weight == 0 {
			continue
		}
		k := key{t.Name(&t.Slices[e.Owner]), e.Bound}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, PathCost{Name: k.name, Bound: k.bound})
		}
		out[n].Time += e.Weight
		out[n].Count++
	}
	slices.SortStableFunc(out, func(p, q PathCost) int { return compareInt(q.Time, p.Time) })
	return out
}

// Text returns the shares of the path as a table.
func (r *PathReport) Text() string {
	var sum int64
	var names []string
	for name, v := range r.Time {
		names = append(names, name)
		sum += v
	}
	slices.SortFunc(names, func(p, q string) int { return compareInt(r.Time[q], r.Time[p]) })
	t := textTable{header: []string{"Bound by", "Time", "Share"}}
	for _, name := range names {
		t.add(name, formatTime(float64(r.Time[name]), ""), formatShare(r.Time[name], sum))
	}
	out := fmt.Sprintf("Critical path of %s: %d events\n", formatTime(float64(r.End-r.Start), ""), len(r.Critical)) + t.String()
	if r.Note != "" {
		out += "Note: " + r.Note + "\n"
	}
	return out
}
