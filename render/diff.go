package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// maxNodes bounds the aligned ranges that a diff lists.
const maxNodes = 20_000

// diffContainer compares two traces: the rows by name, the aligned ranges, the steps.
func diffContainer(base, next *trace.Trace, o Options) (*container, *analyze.DiffReport, *chart) {
	d := analyze.Diff(base, next)
	c := newContainer(o)
	ba, na := analyze.Of(base).Overview(), analyze.Of(next).Overview()
	items := diffFigures(d, ba, na)
	byName := diffGrid(d)
	pic := diffPicture(d)

	summary := []any{&tilesPart{partHead{K: "tiles"}, items}}
	if d.BaseSteps != nil && d.NewSteps != nil && d.BaseSteps.Mean > 0 && d.NewSteps.Mean > 0 {
		summary = append(summary, stepsDiff(d), stepsDiffGrid(d).part())
	}
	top := *byName
	top.Title, top.Rows, top.Total = "Largest changes of self time", byName.Rows[:min(len(byName.Rows), 15)], len(byName.Rows)
	summary = append(summary, top.part())
	c.view(ViewOverview, "Overview", summary...)
	c.view(ViewTable, "By name", byName.part())
	if g := nodesGrid(d); len(g.Rows) > 0 {
		c.view(ViewOperators, "In order", nodesCurve(c, d), g.part())
	}
	c.heading("Comparison")
	c.still.WriteString(figuresTable(items))
	c.picture(pic)
	c.still.WriteString(byName.html(o.limit(), o.TimeUnit))
	return c, d, pic
}

func change(base, next int64) string {
	if base == 0 {
		if next == 0 {
			return "unchanged"
		}
		return "new"
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

func hasDevice(d *analyze.DiffReport) bool {
	return slices.ContainsFunc(d.Rows, func(r analyze.DiffRow) bool { return r.Base.Device != 0 || r.New.Device != 0 })
}

// diffGrid has the columns of the plugin's diff table.
func diffGrid(d *analyze.DiffReport) *Grid {
	dev := hasDevice(d)
	g := &Grid{Title: "By name", Note: "Orange bars: more time in the new profile; blue bars: less.", Sort: -1, Cols: []Column{{Name: "Operator"}, {Name: "On", Hide: !dev}, {Name: "Status", Help: "Of the number of calls"}, {Name: "Base calls", Unit: UnitCount}, {Name: "New calls", Unit: UnitCount}, {Name: "Delta calls", Unit: UnitCount, Hide: true}}}
	type kind struct {
		name       string
		host, hide bool
		value      func(s *analyze.DiffSide) int64
	}
	kinds := []kind{
		{"self host duration", true, false, func(s *analyze.DiffSide) int64 { return s.HostSelf }},
		{"host duration", true, true, func(s *analyze.DiffSide) int64 { return s.Host }},
	}
	if dev {
		kinds = append(kinds, kind{"self device duration", false, false, func(s *analyze.DiffSide) int64 { return s.DeviceSelf }},
			kind{"device duration", false, true, func(s *analyze.DiffSide) int64 { return s.Device }})
	}
	for _, k := range kinds {
		g.Cols = append(g.Cols, Column{Name: "Base " + k.name, Unit: UnitTime, Hide: k.hide}, Column{Name: "New " + k.name, Unit: UnitTime, Hide: k.hide}, Column{Name: "Delta " + k.name, Unit: UnitTime, Heat: true, Hide: k.hide}, Column{Name: "Delta % " + k.name, Unit: UnitPercent, Hide: true})
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		row := []any{r.Name, r.Device, r.Status, r.Base.Count, r.New.Count, r.New.Count - r.Base.Count}
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
	g := &Grid{Title: "Ranges in order", Note: "Matched by kind and name in the order of execution; what stands between matched ranges is summed up.", Sort: -1, Cols: []Column{{Name: "Range"}, {Name: "Matched"}, {Name: "Base", Unit: UnitTime, Help: "Device time, or host time where there is none"}, {Name: "New", Unit: UnitTime}, {Name: "Delta", Unit: UnitTime, Heat: true}, {Name: "Delta %", Unit: UnitPercent}}}
	flatNodes(d.Tree, 0, func(n *analyze.DiffNode, depth int) {
		g.Total++
		if len(g.Rows) < maxNodes {
			g.Rows = append(g.Rows, []any{strings.Repeat("\u2003", min(depth, 30)) + n.Name, n.Matched, n.Base, n.New, n.New - n.Base, percentOf(n.Base, n.New)})
		}
	})
	return g
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
		stack.Data[0] = append(stack.Data[0], float64(list[i].Base), 0)
		stack.Data[1] = append(stack.Data[1], 0, float64(list[i].New))
	}
	return stack
}

// diffPicture shows the largest changes, gains to the left and losses to the right.
func diffPicture(d *analyze.DiffReport) *chart {
	const w, row, top, left, limit = 900, 19, 34, 330, 16
	type line struct {
		name  string
		delta int64
	}
	var lines []line
	for i := range d.Rows {
		r := &d.Rows[i]
		delta := r.New.HostSelf - r.Base.HostSelf
		if r.Side == analyze.SideDevice {
			delta = r.New.DeviceSelf - r.Base.DeviceSelf
		}
		lines = append(lines, line{r.Name, delta})
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Compare(math.Abs(float64(b.delta)), math.Abs(float64(a.delta)))
	})
	lines = lines[:min(limit, len(lines))]
	var most int64 = 1
	for _, l := range lines {
		most = max(most, l.delta, -l.delta)
	}
	alt := fmt.Sprintf("Recorded time went from %s to %s.", formatTime(float64(d.BaseSpan)), formatTime(float64(d.NewSpan)))
	return &chart{w: w, h: top + len(lines)*row + 8, title: "Largest changes of self time", alt: alt, draw: func(p pen) {
		const mid, half = left + 240, 190
		p.text(8, 15, "Largest changes of self time", anchorStart, inkText)
		p.text(mid-6, 15, "less", anchorEnd, inkDim)
		p.text(mid+6, 15, "more", anchorStart, inkDim)
		for i, l := range lines {
			y := float64(top + i*row)
			width := math.Abs(float64(l.delta)) / float64(most) * half
			p.text(left-8, y+row/2, clipText(shorten(l.name), 50), anchorEnd, inkText)
			x, c, at, a := float64(mid), seriesInk(1), mid+width+6, anchorStart
			if l.delta < 0 {
				x, c, at, a = mid-width, seriesInk(0), mid-width-6, anchorEnd
			}
			p.rect(x, y+3, max(1, width), row-6, c, 1)
			sign := ""
			if l.delta > 0 {
				sign = "+"
			}
			p.text(at, y+row/2, sign+formatTime(float64(l.delta)), a, inkDim)
		}
		p.line(mid, top, mid, float64(top+len(lines)*row), inkDim, false)
	}}
}

// Diff draws the comparison of two traces as the output of a notebook cell.
func Diff(base, next *trace.Trace, o Options) (Bundle, error) {
	if o.Title == "" {
		o.Title = "Comparison"
	}
	c, d, pic := diffContainer(base, next, o)
	h, err := c.html(o)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{HTML: h, Text: d.Text(o.textRows())}
	if b.PNG, err = pic.png(); err != nil {
		return Bundle{}, err
	}
	rows := d.Rows[:min(len(d.Rows), 50)]
	if rows == nil {
		rows = []analyze.DiffRow{}
	}
	if b.JSON, err = json.Marshal(map[string]any{"version": 1, "base_span": d.BaseSpan, "new_span": d.NewSpan, "rows": rows}); err != nil {
		return Bundle{}, fmt.Errorf("writing comparison as json: %w", err)
	}
	return b, nil
}

// textRows is the limit of text tables in analyze's convention, where 0 is all.
func (o Options) textRows() int {
	if o.Limit < 0 {
		return 0
	}
	return o.limit()
}

// DiffPage writes one self-contained HTML page that compares two traces.
func DiffPage(w io.Writer, base, next *trace.Trace, o Options) error {
	if o.Title == "" {
		o.Title = "Comparison"
	}
	c, _, _ := diffContainer(base, next, o)
	c.hint = pageHint
	fragment, err := c.html(o)
	if err != nil {
		return err
	}
	return writePage(w, o.Title, fragment)
}
