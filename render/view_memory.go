package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// maxAllocations bounds the table of allocations: the largest are kept.
const maxAllocations = 20_000

// memory shows every memory that was recorded: curve, allocations, statistics, leaks; then sampled sizes.
func (r *report) memory() error {
	m := r.a.Memory(analyze.MemoryOptions{})
	if m == nil || len(m.Spaces) == 0 && len(m.Heap) == 0 {
		return nil
	}
	r.text.WriteString("\nMemory:\n")
	var parts []any
	r.heading("Memory")
	for i := range m.Spaces {
		s := &m.Spaces[i]
		g := spaceGraph(s, r.steps)
		p, err := g.part(r.container, r.base, r.end)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		r.showCurve(g, s.Name+" ", i == 0)
		parts = append(parts, r.spaceTables(s)...)
	}
	if len(m.Heap) > 0 {
		g := &Graph{Title: "Memory of the process", Unit: UnitBytes, Marks: r.steps, Note: "Sampled while recording."}
		for i, h := range m.Heap[:min(len(m.Heap), 10)] {
			g.Series = append(g.Series, Series{Name: h.Name, Times: h.Times, Values: h.Values, Area: i == 0})
		}
		p, err := g.part(r.container, r.base, r.end)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		r.showCurve(g, "", len(m.Spaces) == 0)
	}
	r.view(ViewMemory, "Memory", parts...)
	return nil
}

// showCurve draws a curve, and writes it as text with prefix before the name of each series.
func (r *report) showCurve(g *Graph, prefix string, print bool) {
	pic := g.picture(r.base, r.end)
	r.picture(pic)
	lines := *g
	lines.Series = slices.Clone(g.Series)
	for i := range lines.Series {
		if prefix != "" {
			lines.Series[i].Name = prefix + strings.ToLower(lines.Series[i].Name)
		}
	}
	r.text.WriteString(lines.text())
	if print {
		r.paper = append(r.paper, pic)
	}
}

func spaceGraph(s *analyze.MemorySpace, steps []Mark) *Graph {
	g := &Graph{Title: s.Name + " memory, peak " + formatBytes(float64(s.Peak)), Unit: UnitBytes, Marks: steps}
	alloc := Series{Name: "Allocated", Times: s.Times, Area: true}
	reserved := Series{Name: "Reserved"}
	for i, v := range s.Allocated {
		alloc.Values = append(alloc.Values, float64(v))
		if i < len(s.Reserved) && s.Reserved[i] >= 0 {
			reserved.Times = append(reserved.Times, s.Times[i])
			reserved.Values = append(reserved.Values, float64(s.Reserved[i]))
		}
	}
	g.Series = append(g.Series, alloc)
	if len(reserved.Times) > 0 {
		g.Series = append(g.Series, reserved)
	}
	// A line far above the curve would flatten it; then the capacity is only named.
	if s.Capacity > 0 && len(s.Times) > 0 {
		if max(s.Peak, s.PeakHeld) > s.Capacity/3 {
			g.Series = append(g.Series, Series{Name: "Capacity", Times: s.Times[:1], Values: []float64{float64(s.Capacity)}, Limit: true})
		} else {
			g.Note = fmt.Sprintf("The device has %s; %.1f %% were allocated at the peak.", formatBytes(float64(s.Capacity)), 100*float64(s.Peak)/float64(s.Capacity))
		}
	}
	return g
}

func (r *report) spaceTables(s *analyze.MemorySpace) []any {
	var parts []any
	if len(s.Allocs) > 0 {
		parts = append(parts, r.allocations(s.Name+": allocations", s.Allocs))
	}
	if len(s.Stats) > 0 {
		g := &Grid{Title: s.Name + ": statistics by operator", Sort: -1, Cols: []Column{{Name: "Operator name"}, {Name: "Calls", Unit: UnitCount},
			{Name: "Size increase", Unit: UnitBytes, Heat: true, Help: "Allocated minus released in it and what it called"}, {Name: "Self size increase", Unit: UnitBytes, Heat: true},
			{Name: "Allocation count", Unit: UnitCount}, {Name: "Self allocation count", Unit: UnitCount}, {Name: "Allocation size", Unit: UnitBytes, Heat: true}, {Name: "Self allocation size", Unit: UnitBytes, Heat: true}}}
		for _, v := range s.Stats {
			g.Rows = append(g.Rows, []any{v.Operator, v.Calls, v.Increase, v.SelfIncrease, v.Allocs, v.SelfAllocs, v.Allocated, v.SelfAllocated})
		}
		p := g.part()
		p.Find = 0
		parts = append(parts, p)
		r.still.WriteString(g.html(min(10, r.o.limit()), r.o.TimeUnit))
	}
	if len(s.Leaks) > 0 {
		g := &Grid{Title: s.Name + ": kept after the steps", Note: "Allocated in steps and not released: memory that grows with every step.", Sort: -1, Cols: []Column{{Name: "Operator"}, {Name: "Held at the end", Unit: UnitBytes, Heat: true}, {Name: "Allocations", Unit: UnitCount}, {Name: "Per step", Unit: UnitBytes}, {Name: "In steps", Unit: UnitCount}, {Name: "Share", Unit: UnitPercent}}}
		for _, l := range s.Leaks {
			g.Rows = append(g.Rows, []any{l.Operator, l.Bytes, l.Count, l.PerStep, l.Steps, 100 * l.Share})
		}
		parts = append(parts, g.part())
	}
	if len(s.OOM) > 0 {
		parts = append(parts, r.allocations(s.Name+": failed allocations", s.OOM))
	}
	return parts
}

// allocations lists allocations with their release; a range selected on a curve filters it.
func (r *report) allocations(title string, list []analyze.Allocation) *tablePart {
	g := &Grid{Title: title, Sort: -1, Cols: []Column{{Name: "Operator"}, {Name: "Size", Unit: UnitBytes, Heat: true}, {Name: "Allocation time", Unit: UnitTime, Help: "Empty: before the recording"}, {Name: "Release time", Unit: UnitTime, Help: "Empty: not released while recording"}, {Name: "Duration", Unit: UnitTime}}}
	if len(list) > maxAllocations {
		g.Total = len(list)
		g.Note = fmt.Sprintf("The %s largest of %s.", formatCount(maxAllocations), formatCount(float64(len(list))))
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b analyze.Allocation) int { return cmp.Compare(b.Bytes, a.Bytes) })
		list = list[:maxAllocations]
	}
	at := func(t int64) any {
		if t == trace.NoTime {
			return nil
		}
		return t - r.base
	}
	stacks := false
	for i := range list {
		stacks = stacks || len(list[i].Stack) > 0
	}
	if stacks {
		g.Cols = append(g.Cols, Column{Name: "Call stack"})
	}
	for i := range list {
		a := &list[i]
		row := []any{a.Operator, a.Bytes, at(a.Alloc), at(a.Release), known(float64(a.Alive))}
		if stacks {
			row = append(row, stackText(a.Stack))
		}
		g.Rows = append(g.Rows, row)
	}
	p := g.part()
	p.Span, p.Find = []int{2, 3}, 0
	return p
}

func stackText(frames []string) string {
	s := ""
	for i, f := range frames {
		if i == 8 {
			break
		}
		if i > 0 {
			s += " ← "
		}
		s += f
	}
	return s
}
