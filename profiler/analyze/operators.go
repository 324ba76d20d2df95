package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Operator is one row of the operator view. Times are ns summed over calls.
type Operator struct {
	Name        string          `json:"name"`
	Shapes      string          `json:"input_shapes,omitempty"`
	Calls       int64           `json:"calls"`
	DeviceSelf  int64           `json:"device_self"`
	DeviceTotal int64           `json:"device_total"`
	HostSelf    int64           `json:"host_self"` // without children and runtime calls
	HostTotal   int64           `json:"host_total"`
	TCEligible  bool            `json:"tc_eligible"`
	TCSelf      float64         `json:"tc_self"`  // share of the self device time in tensor-core kernels
	TCTotal     float64         `json:"tc_total"` // share of the total device time in tensor-core kernels
	Stacks      []OperatorStack `json:"stacks,omitempty"`
}

// OperatorStack is the part of an operator called from one place.
type OperatorStack struct {
	Stack []string `json:"stack"` // outermost first
	Operator
}

// OperatorOptions choose the grouping of the operator view.
type OperatorOptions struct {
	Convention Convention // Exact, or Plugin: no driver calls, ids taken on trust
	ByShape    bool
}

// OperatorReport is the operator view, ordered by device self time, or host self time where there is no device time.
type OperatorReport struct {
	Rows      []Operator `json:"rows"`
	HasDevice bool       `json:"has_device"`
}

// Operators returns the operator view of t.
func Operators(t *trace.Trace, o OperatorOptions) *OperatorReport { return Of(t).Operators(o) }

// Operators returns the operator view.
func (a *Analysis) Operators(o OperatorOptions) *OperatorReport {
	t := a.opTree(o.Convention)
	type key struct{ name, shapes trace.StringID }
	type place struct {
		row   int
		stack trace.StringID
	}
	rows := map[key]int{}
	places := map[place]int{}
	var r OperatorReport
	var tc [][2]int64
	s := a.Trace.Slices
	for _, i := range t.order {
		if !t.isOp(i) {
			continue
		}
		k := key{name: s[i].Name}
		if o.ByShape {
			k.shapes = opShapes(a.Trace, i)
		}
		n, ok := rows[k]
		if !ok {
			n = len(r.Rows)
			rows[k] = n
			r.Rows = append(r.Rows, Operator{Name: a.Trace.Strings.Get(k.name), Shapes: spacedJSON(a.Trace.Strings.Get(k.shapes))})
			tc = append(tc, [2]int64{})
		}
		r.Rows[n].add(t, i)
		tc[n][0] += t.tcSelf[i]
		tc[n][1] += t.tcTotal[i]
		if text := opStack(a.Trace, i); text != 0 {
			at := place{n, text}
			m, ok := places[at]
			if !ok {
				m = len(r.Rows[n].Stacks)
				places[at] = m
				r.Rows[n].Stacks = append(r.Rows[n].Stacks, OperatorStack{
					Stack: splitStack(a.Trace.Strings.Get(text)), Operator: Operator{Name: r.Rows[n].Name, Shapes: r.Rows[n].Shapes}})
			}
			r.Rows[n].Stacks[m].add(t, i)
		}
		r.HasDevice = r.HasDevice || t.devTotal[i] > 0
	}
	for n := range r.Rows {
		row := &r.Rows[n]
		row.TCSelf, row.TCTotal = ratio(tc[n][0], row.DeviceSelf), ratio(tc[n][1], row.DeviceTotal)
	}
	slices.SortStableFunc(r.Rows, func(p, q Operator) int {
		if c := compareInt(q.DeviceSelf, p.DeviceSelf); c != 0 {
			return c
		}
		return compareInt(q.HostSelf, p.HostSelf)
	})
	return &r
}

func (o *Operator) add(t *opTree, i int32) {
	o.Calls++
	o.HostTotal += t.x.t.Slices[i].Dur
	o.HostSelf += t.hostSelf[i]
	o.DeviceTotal += t.devTotal[i]
	o.DeviceSelf += t.devSelf[i]
	o.TCEligible = o.TCEligible || t.tcEligible[i]
}

func opShapes(t *trace.Trace, i int32) trace.StringID {
	if s := &t.Slices[i]; s.Kind == trace.ArgOp {
		return t.Ops[s.Args].Dims
	}
	return 0
}

func opStack(t *trace.Trace, i int32) trace.StringID {
	if s := &t.Slices[i]; s.Kind == trace.ArgOp {
		return t.Ops[s.Args].StackText
	}
	return 0
}

// splitStack returns the frames of a recorded stack, outermost first.
func splitStack(text string) []string {
	frames := strings.Split(text, ";")
	slices.Reverse(frames)
	return frames
}

// Text returns the rows as a table of at most limit rows; 0 or less is all.
func (r *OperatorReport) Text(limit int) string {
	t := textTable{header: []string{"Operator", "Calls", "Device self", "Device total", "Host self", "Host total", "TC eligible", "TC self", "TC total"}}
	n, more := limited(len(r.Rows), limit)
	for i := range r.Rows[:n] {
		o := &r.Rows[i]
		name, eligible := o.Name, "no"
		if o.Shapes != "" {
			name += " " + o.Shapes
		}
		if o.TCEligible {
			eligible = "yes"
		}
		t.add(name, strconv.FormatInt(o.Calls, 10), formatTime(float64(o.DeviceSelf), ""), formatTime(float64(o.DeviceTotal), ""),
			formatTime(float64(o.HostSelf), ""), formatTime(float64(o.HostTotal), ""), eligible, formatRatio(o.TCSelf), formatRatio(o.TCTotal))
	}
	return t.String() + more
}
