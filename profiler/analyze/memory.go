package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Allocation is one allocation with its release, paired by address.
type Allocation struct {
	Operator string   `json:"operator"` // "<unknown>" outside operators
	Bytes    int64    `json:"bytes"`
	Alloc    int64    `json:"alloc"`   // ns, NoTime when it happened before the recording
	Release  int64    `json:"release"` // ns, NoTime when it was not seen
	Alive    int64    `json:"-"`       // ns between both, -1 when one is missing
	Addr     uint64   `json:"-"`
	Stack    []string `json:"stack,omitempty"`
}

// MemoryStat is one operator's row. "Increase" is net of releases inside the operator; "Allocated" counts allocations only.
type MemoryStat struct {
	Operator      string `json:"operator"`
	Calls         int64  `json:"calls"`
	Increase      int64  `json:"increase"` // bytes
	SelfIncrease  int64  `json:"self_increase"`
	Allocs        int64  `json:"allocs"`
	SelfAllocs    int64  `json:"self_allocs"`
	Allocated     int64  `json:"allocated"` // bytes
	SelfAllocated int64  `json:"self_allocated"`
}

// Leak is memory that an operator allocated in steps and that was never released: it grew with the steps.
type Leak struct {
	Operator string  `json:"operator"`
	Bytes    int64   `json:"bytes"` // still held at the end
	Count    int64   `json:"count"`
	PerStep  int64   `json:"per_step"` // bytes
	Steps    int     `json:"steps"`    // steps in which some of it was allocated
	Share    float64 `json:"share"`    // of all that these steps left behind
}

// MemorySpace is the memory of the host or of one device.
type MemorySpace struct {
	Name     string         `json:"name"` // "GPU0", "CPU"
	Space    trace.MemSpace `json:"-"`
	Device   trace.DeviceID `json:"-"`
	Capacity int64          `json:"capacity"` // bytes, 0 when unknown
	Peak     int64          `json:"peak"`     // bytes: most that was allocated at once
	PeakTime int64          `json:"peak_time"`
	PeakHeld int64          `json:"peak_reserved"` // bytes: most that the allocator held

	// Curve: a step function. Reserved is -1 where unknown.
	Times     []int64 `json:"times"`
	Allocated []int64 `json:"allocated"`
	Reserved  []int64 `json:"reserved"`

	Events int          `json:"events"`
	Allocs []Allocation `json:"allocations"`
	Stats  []MemoryStat `json:"stats"` // by self increase
	Leaks  []Leak       `json:"leaks"`
	OOM    []Allocation `json:"oom"` // failed allocations
}

// MemoryReport is the memory view: devices first, then the host.
type MemoryReport struct {
	Spaces []MemorySpace `json:"spaces"`
	Heap   []HeapCurve   `json:"heap"` // counters in bytes: heap, RSS, …
}

// HeapCurve is a sampled size.
type HeapCurve struct {
	Name   string    `json:"name"`
	Times  []int64   `json:"times"`
	Values []float64 `json:"values"` // bytes
	Peak   float64   `json:"peak"`
}

// MemoryOptions restrict the memory view to a range of time, as the plugin does when part of the curve is selected.
type MemoryOptions struct {
	From, To int64 // ns; both 0 is everything
}

// Memory returns the memory view of t.
func Memory(t *trace.Trace, o MemoryOptions) *MemoryReport { return Of(t).Memory(o) }

// Memory returns the memory view.
func (a *Analysis) Memory(o MemoryOptions) *MemoryReport { return a.MemoryAs(o, Exact) }

// MemoryAs returns the memory view with the call tree of convention c.
func (a *Analysis) MemoryAs(o MemoryOptions, c Convention) *MemoryReport {
	r := &MemoryReport{Heap: a.heapCurves()}
	t := a.Trace
	if len(t.Memory) == 0 {
		return r
	}
	tree := a.opTree(c)
	owner := innermost(tree.x, tree.order, tree.parent, func(i int32) trace.TrackID { return t.Slices[i].Track }, t.Memory)
	b := memoryBuilder{t: t, tree: tree, owner: owner, o: o, steps: tree.x.stepRanges()}
	if c == Plugin {
		b.threads = map[trace.TrackID]bool{}
	}
	for i := range t.Memory {
		m := &t.Memory[i]
		if b.threads != nil {
			b.threads[m.Track] = true
		}
		b.space(m).events = append(b.space(m).events, int32(i))
	}
	slices.SortStableFunc(b.spaces, func(p, q *spaceEvents) int {
		if p.Space != q.Space { // devices first
			return int(q.Space) - int(p.Space)
		}
		return int(p.Device - q.Device)
	})
	for _, s := range b.spaces {
		r.Spaces = append(r.Spaces, b.build(s))
	}
	return r
}

// Text returns peaks and per-operator statistics as a table of at most limit rows; 0 or less is all.
func (r *MemoryReport) Text(limit int) string {
	var b strings.Builder
	for _, h := range r.Heap {
		fmt.Fprintf(&b, "%s: peak %s\n", clean(h.Name), formatMemory(int64(h.Peak)))
	}
	for i := range r.Spaces {
		s := &r.Spaces[i]
		fmt.Fprintf(&b, "%s: peak %s, %d events\n", s.Name, formatMemory(s.Peak), s.Events)
		t := textTable{header: []string{"Operator", "Calls", "Increase", "Self increase", "Allocations", "Self allocations", "Allocated", "Self allocated"}}
		n, more := limited(len(s.Stats), limit)
		for _, v := range s.Stats[:n] {
			t.add(v.Operator, strconv.FormatInt(v.Calls, 10), formatMemory(v.Increase), formatMemory(v.SelfIncrease),
				strconv.FormatInt(v.Allocs, 10), strconv.FormatInt(v.SelfAllocs, 10), formatMemory(v.Allocated), formatMemory(v.SelfAllocated))
		}
		b.WriteString(t.String() + more)
		for _, l := range s.Leaks {
			fmt.Fprintf(&b, "Grows: %s keeps %s (%d allocations) over %d steps\n", clean(l.Operator), formatMemory(l.Bytes), l.Count, l.Steps)
		}
	}
	return b.String()
}
