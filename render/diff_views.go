package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
)

func change(base, next int64) string {
	switch {
	case base == next:
		return "unchanged"
	case base == 0:
		return "new"
	}
	if ratio := float64(next) / float64(base); ratio >= 3 {
		return fmt.Sprintf("%.3g ×", ratio)
	}
	return fmt.Sprintf("%+.2f %%", 100*float64(next-base)/float64(base))
}

func diffFigures(d *analyze.DiffReport, ba, na *analyze.OverviewReport) []tile {
	var out []tile
	add := func(label string, u Unit, base, next int64) {
		if base != 0 || next != 0 {
			out = append(out, tile{Label: label, Value: change(base, next), Small: formatValue(u, float64(base), "") + " → " + formatValue(u, float64(next), "")})
		}
	}
	add("Recorded", UnitTime, d.BaseSpan, d.NewSpan)
	if d.BaseSteps != nil && d.NewSteps != nil {
		add("Step, average", UnitTime, int64(d.BaseSteps.Mean), int64(d.NewSteps.Mean))
	}
	add("Host busy", UnitTime, ba.HostBusy, na.HostBusy)
	add("Device busy", UnitTime, ba.DeviceBusy, na.DeviceBusy)
	add("Waiting for the device", UnitTime, ba.SyncTime, na.SyncTime)
	add("Peak device memory", UnitBytes, ba.PeakDevice, na.PeakDevice)
	add("Peak host memory", UnitBytes, ba.PeakHost, na.PeakHost)
	add("Garbage collection", UnitTime, ba.GC, na.GC)
	return out
}

func stepsDiff(d *analyze.DiffReport) *stackPart {
	p := &stackPart{partHead: partHead{K: "stack", Title: "Average step by category", Half: true}, Label: "Average step by category", Unit: UnitTime, Cats: partNames(), Colors: partColors[:], Labels: []string{"base", "new"}}
	for c := range analyze.NumStepParts {
		p.Data = append(p.Data, []float64{d.BaseSteps.Average[c], d.NewSteps.Average[c]})
	}
	return p
}

func stepsDiffGrid(d *analyze.DiffReport) *halfGrid {
	g := &Grid{Title: "Average step", Sort: -1, Cols: []Column{{Name: "Category"}, {Name: "Base", Unit: UnitTime}, {Name: "New", Unit: UnitTime}, {Name: "Delta", Unit: UnitTime, Heat: true}}}
	for c := range analyze.NumStepParts {
		b, n := d.BaseSteps.Average[c], d.NewSteps.Average[c]
		if b != 0 || n != 0 {
			g.Rows = append(g.Rows, []any{c.String(), b, n, n - b})
		}
	}
	return &halfGrid{g}
}

// halfGrid is a table that shares its line.
type halfGrid struct{ *Grid }

func (g *halfGrid) part() *tablePart {
	p := g.Grid.part()
	p.Half = true
	return p
}

// percentOf is a change in percent of base, empty where base is 0.
func percentOf(base, next int64) any {
	if base == 0 {
		return nil
	}
	return 100 * float64(next-base) / float64(base)
}

// sameShare is the change in percent below which a time counts as the same.
const sameShare = 1

// verdict is what became of a row's self time.
func verdict(r *analyze.DiffRow) string {
	base, next := r.Self()
	switch {
	case r.Base.Count == 0:
		return "new"
	case r.New.Count == 0:
		return "gone"
	case 100*math.Abs(float64(next-base)) <= sameShare*float64(base):
		return "same"
	case next > base:
		return "slower"
	}
	return "faster"
}

// diffGrid answers what became slower and by how much; the columns of the plugin's diff table are there to be chosen.
func diffGrid(d *analyze.DiffReport) *Grid {
	has := func(f func(r *analyze.DiffRow) bool) bool {
		return slices.ContainsFunc(d.Rows, func(r analyze.DiffRow) bool { return f(&r) })
	}
	device := has(func(r *analyze.DiffRow) bool { return r.Base.Device != 0 || r.New.Device != 0 })
	launches := device && has(func(r *analyze.DiffRow) bool {
		return r.Side == analyze.SideCPU && (r.Base.Device != 0 || r.New.Device != 0)
	})
	shapes := has(func(r *analyze.DiffRow) bool { return r.Shapes != "" })
	stacks := has(func(r *analyze.DiffRow) bool { return len(r.Stack) > 0 })
	g := &Grid{Title: "By name", Note: "Orange bars: more time in the new profile; blue bars: less. Device rows are the work itself, host rows the calls that launched it.", Sort: -1, Cols: []Column{
		{Name: "Name"}, {Name: "On", Hide: !device}, {Name: "Input shapes", Hide: !shapes}, {Name: "Called from", Hide: !stacks},
		{Name: "Change", Help: "Of the self time; within 1 % it is the same"},
		{Name: "Delta self", Unit: UnitTime, Heat: true, Help: "Time of its own: host time in host rows, device time in device rows"}, {Name: "Delta %", Unit: UnitPercent},
		{Name: "Base self", Unit: UnitTime}, {Name: "New self", Unit: UnitTime},
		{Name: "Base calls", Unit: UnitCount}, {Name: "New calls", Unit: UnitCount},
		{Name: "Delta device", Unit: UnitTime, Heat: true, Hide: !launches, Help: "Device time of everything that host rows and what they called launched"},
		{Name: "Delta calls", Unit: UnitCount, Hide: true},
	}}
	kinds := []struct {
		name  string
		host  bool
		value func(s *analyze.DiffSide) int64
	}{
		{"host duration", true, func(s *analyze.DiffSide) int64 { return s.Host }},
		{"self host duration", true, func(s *analyze.DiffSide) int64 { return s.HostSelf }},
		{"device duration", false, func(s *analyze.DiffSide) int64 { return s.Device }},
		{"self device duration", false, func(s *analyze.DiffSide) int64 { return s.DeviceSelf }},
	}
	if !device {
		kinds = kinds[:2]
	}
	for _, k := range kinds {
		for _, prefix := range []string{"Base ", "New ", "Delta "} {
			g.Cols = append(g.Cols, Column{Name: prefix + k.name, Unit: UnitTime, Heat: prefix == "Delta ", Hide: true})
		}
		g.Cols = append(g.Cols, Column{Name: "Delta % " + k.name, Unit: UnitPercent, Hide: true})
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		base, next := r.Self()
		row := []any{r.Name, r.Device, r.Shapes, strings.Join(r.Stack, " ← "), verdict(r), next - base, percentOf(base, next), base, next, r.Base.Count, r.New.Count, nil, r.New.Count - r.Base.Count}
		if r.Side == analyze.SideCPU && (r.Base.Device != 0 || r.New.Device != 0) {
			row[11] = r.New.Device - r.Base.Device
		}
		for _, k := range kinds {
			if r.Side == analyze.SideDevice && k.host {
				row = append(row, nil, nil, nil, nil)
				continue
			}
			b, n := k.value(&r.Base), k.value(&r.New)
			row = append(row, b, n, n-b, percentOf(b, n))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// flatNodes lists the aligned ranges in order with their depth.
func flatNodes(list []analyze.DiffNode, depth int, add func(n *analyze.DiffNode, depth int)) {
	for i := range list {
		add(&list[i], depth)
		flatNodes(list[i].Children, depth+1, add)
	}
}

func nodesGrid(d *analyze.DiffReport) *Grid {
	g := &Grid{Title: "Ranges in order", Note: "Matched by kind and name in the order of execution; what stands between matched ranges is summed up.", Sort: -1, Cols: []Column{{Name: "Range"}, {Name: "In", Help: "Both runs, or only one"}, {Name: "Delta", Unit: UnitTime, Heat: true, Help: "Device time of the work launched in it, or host time where there is none"}, {Name: "Delta %", Unit: UnitPercent}, {Name: "Base", Unit: UnitTime}, {Name: "New", Unit: UnitTime},
		{Name: "Mostly", Help: "The operators in it whose self time changed most, on host and device together"},
		{Name: "Base host", Unit: UnitTime, Hide: true}, {Name: "New host", Unit: UnitTime, Hide: true}, {Name: "Delta host", Unit: UnitTime, Heat: true, Hide: true}}}
	flatNodes(d.Tree, 0, func(n *analyze.DiffNode, depth int) {
		g.Total++
		if len(g.Rows) < maxNodes {
			base, next := n.Base.Time(), n.New.Time()
			if n.Base.Device > 0 != (n.New.Device > 0) && n.Base.Ranges > 0 && n.New.Ranges > 0 { // like with like
				base, next = n.Base.Host, n.New.Host
			}
			g.Rows = append(g.Rows, []any{strings.Repeat("\u2003", min(depth, 30)) + n.Name, sides(n), next - base, percentOf(base, next), base, next, mostly(n), n.Base.Host, n.New.Host, n.New.Host - n.Base.Host})
		}
	})
	return g
}

func sides(n *analyze.DiffNode) string {
	switch {
	case n.Base.Ranges == 0:
		return "new"
	case n.New.Ranges == 0:
		return "base"
	}
	return "both"
}

// mostly names the operators that a range's change comes from.
func mostly(n *analyze.DiffNode) string {
	var out []string
	for i := range n.Operators[:min(3, len(n.Operators))] {
		r := &n.Operators[i]
		delta := r.New.HostSelf - r.Base.HostSelf + r.New.DeviceSelf - r.Base.DeviceSelf
		if delta == 0 {
			continue
		}
		sign := ""
		if delta > 0 {
			sign = "+"
		}
		out = append(out, r.Name+" "+sign+formatTime(float64(delta)))
	}
	return strings.Join(out, ", ")
}

// nodesCurve accumulates the ranges of the first level that has several: where the runs part.
func nodesCurve(c *container, d *analyze.DiffReport) any {
	list := d.Tree
	for len(list) == 1 && len(list[0].Children) > 0 {
		list = list[0].Children
	}
	stack := &stackPart{partHead: partHead{K: "stack", Title: "Execution comparison"}, Label: "Time of each range in both runs", Unit: UnitTime, Cats: []string{"base", "new"}, Colors: []int{0, 1}, Data: make([][]float64, 2)}
	for i := range list[:min(len(list), 30)] {
		stack.Labels = append(stack.Labels, clipText(list[i].Name, 40)+" (base)", clipText(list[i].Name, 40)+" (new)")
		stack.Data[0] = append(stack.Data[0], float64(list[i].Base.Time()), 0)
		stack.Data[1] = append(stack.Data[1], 0, float64(list[i].New.Time()))
	}
	return stack
}
