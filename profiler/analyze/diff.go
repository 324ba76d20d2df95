package analyze

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// DiffOptions choose what a comparison's rows are and how ranges are matched.
type DiffOptions struct {
	Keys KeyOptions // grouping of the rows

	// Convention is Exact or Plugin, of the ranges and the steps. Exact finds the longest common order of everything that
	// marks a place in the program, on all threads. Plugin is the TensorBoard plugin's: of its first thread only, without
	// the steps, each mark matched with the first later one of its name. (The plugin also makes ranges for the backward pass
	// of modules out of arrows as torch wrote them before 1.13; those are not made here.)
	Convention Convention
}

// DiffSide is one run's share of a row. Times are ns.
type DiffSide struct {
	Count      int64 `json:"count"`
	Host       int64 `json:"host"`
	HostSelf   int64 `json:"host_self"`
	Device     int64 `json:"device"`
	DeviceSelf int64 `json:"device_self"`
}

// DiffRow compares one key.
type DiffRow struct {
	Name      string   `json:"name"`
	Shapes    string   `json:"input_shapes,omitempty"`
	Stack     []string `json:"stack,omitempty"` // innermost first
	Thread    string   `json:"thread,omitempty"`
	Step      string   `json:"step,omitempty"`
	Side      Side     `json:"-"`
	Device    string   `json:"device,omitempty"`
	Status    string   `json:"status"` // "added", "deleted", "increased", "decreased" (calls), "unchanged"
	Base, New DiffSide `json:"-"`
}

// Self returns the self times of the row in ns where it ran: host time of host rows, device time of device rows.
func (r *DiffRow) Self() (base, next int64) {
	if r.Side == SideDevice {
		return r.Base.DeviceSelf, r.New.DeviceSelf
	}
	return r.Base.HostSelf, r.New.HostSelf
}

// Change is what the row's self time grew by in ns.
func (r *DiffRow) Change() int64 {
	base, next := r.Self()
	return next - base
}

// MarshalJSON writes both sides and their names in one object.
func (r DiffRow) MarshalJSON() ([]byte, error) {
	type plain DiffRow // without this method
	return json.Marshal(struct {
		plain
		Base DiffSide `json:"base"`
		New  DiffSide `json:"new"`
	}{plain(r), r.Base, r.New})
}

// DiffNode is a pair of matched ranges, or of unmatched runs between them, in order. Times are ns.
type DiffNode struct {
	Name       string     `json:"name"`
	Matched    bool       `json:"matched"` // a pair; else a run of ranges that only one side has, or in another order
	Base       RangeTime  `json:"base"`
	New        RangeTime  `json:"new"`
	Operators  []DiffRow  `json:"operators,omitempty"` // what ran in it, by name, largest change first; missing beyond a bound
	BaseSlices []int32    `json:"-"`
	NewSlices  []int32    `json:"-"`
	Children   []DiffNode `json:"children,omitempty"`
}

// RangeTime is the time of the ranges of one side in ns.
type RangeTime struct {
	Ranges int   `json:"ranges"`
	Host   int64 `json:"host"`
	Device int64 `json:"device"` // of the work launched in them
}

// Time is the device time, or the host time where there is none.
func (t RangeTime) Time() int64 {
	if t.Device > 0 {
		return t.Device
	}
	return t.Host
}

// DiffReport compares two traces.
type DiffReport struct {
	Rows      []DiffRow   `json:"rows"`      // largest change of self time first
	Tree      []DiffNode  `json:"tree"`      // ranges in the order of execution
	BaseSpan  int64       `json:"base_span"` // ns
	NewSpan   int64       `json:"new_span"`
	BaseSteps *StepReport `json:"base_steps"`
	NewSteps  *StepReport `json:"new_steps"`
	LeftOut   []string    `json:"left_out"` // steps of one run left out because the other's of that name is incomplete

	Functions []FunctionsDiff `json:"functions"` // of sampled profiles
}

// Diff compares base with next by name and aligned.
func Diff(base, next *trace.Trace) *DiffReport { return DiffOf(Of(base), Of(next), DiffOptions{}) }

// DiffOf compares two analyses.
func DiffOf(base, next *Analysis, o DiffOptions) *DiffReport {
	b, n := base.KeyAverages(o.Keys), next.KeyAverages(o.Keys)
	r := &DiffReport{Rows: diffRows(b, n), BaseSpan: b.Span, NewSpan: n.Span}
	r.steps(base.StepsAs(o.Convention), next.StepsAs(o.Convention))
	if o.Convention == Plugin {
		r.Tree = pluginDiff(base, next)
	} else {
		r.Tree = align(base, next)
	}
	r.Functions = diffFunctions(base.Functions(), next.Functions())
	diffOperators(base.opTree(o.Convention), next.opTree(o.Convention), r.Tree)
	return r
}

// steps keeps the steps that both runs recorded whole: a mean over other steps says nothing of a change.
func (r *DiffReport) steps(base, next *StepReport) {
	r.BaseSteps, r.NewSteps, r.LeftOut = base, next, []string{}
	if !base.Real || !next.Real {
		return
	}
	r.BaseSteps, r.NewSteps = base.without(next.Dropped), next.without(base.Dropped)
	for _, name := range append(slices.Clone(base.Dropped), next.Dropped...) {
		if !slices.Contains(r.LeftOut, name) && (r.BaseSteps != base && slices.Contains(next.Dropped, name) || r.NewSteps != next && slices.Contains(base.Dropped, name)) {
			r.LeftOut = append(r.LeftOut, name)
		}
	}
}

func diffRows(b, n *Averages) []DiffRow {
	type key struct {
		name, shapes, stack, thread, step string
		side                              Side
		user                              bool
	}
	out := []DiffRow{}
	rows := map[key]int{}
	row := func(a *Average) *DiffRow {
		k := key{a.Key, a.Shapes, strings.Join(a.Stack, "\n"), a.Thread, a.Step, a.Side, a.User}
		i, ok := rows[k]
		if !ok {
			i = len(out)
			rows[k] = i
			out = append(out, DiffRow{Name: a.Key, Shapes: a.Shapes, Stack: a.Stack, Thread: a.Thread, Step: a.Step, Side: a.Side, Device: a.Device})
		}
		return &out[i]
	}
	side := func(a *Average) DiffSide {
		return DiffSide{Count: a.Count, Host: a.CPUTotal, HostSelf: a.SelfCPU, Device: a.DeviceTotal, DeviceSelf: a.SelfDevice}
	}
	for i := range b.Rows {
		row(&b.Rows[i]).Base = side(&b.Rows[i])
	}
	for i := range n.Rows {
		row(&n.Rows[i]).New = side(&n.Rows[i])
	}
	for i := range out {
		out[i].Status = status(out[i].Base.Count, out[i].New.Count)
	}
	slices.SortStableFunc(out, byChange)
	return out
}

// byChange orders rows by the size of their change, then by their size.
func byChange(p, q DiffRow) int {
	a, b := p.Change(), q.Change()
	if c := compareInt(max(b, -b), max(a, -a)); c != 0 {
		return c
	}
	_, a = p.Self()
	_, b = q.Self()
	return compareInt(b, a)
}

func status(base, next int64) string {
	switch {
	case base == 0:
		return "added"
	case next == 0:
		return "deleted"
	case next > base:
		return "increased"
	case next < base:
		return "decreased"
	}
	return "unchanged"
}
