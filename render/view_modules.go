package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gander-go/gander/profiler/analyze"
)

// largest returns the names and values of rows, largest value first.
func largest(rows []analyze.Operator, value func(o *analyze.Operator) int64) ([]string, []float64) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(&rows[b]), value(&rows[a])) })
	names, values := make([]string, len(rows)), make([]float64, len(rows))
	for i, k := range order {
		names[i], values[i] = rows[k].Name, float64(value(&rows[k]))
	}
	return names, values
}

// modules is the tree of nn.Modules.
func (r *report) modules() error {
	m := r.a.Modules()
	if m == nil || len(m.Roots) == 0 {
		return nil
	}
	g := &Grid{Title: "Modules", Sort: -1, Cols: []Column{{Name: "Module name"}, {Name: "Occurrences", Unit: UnitCount}, {Name: "Operators", Unit: UnitCount}, {Name: "Host total time", Unit: UnitTime, Heat: true}, {Name: "Host self time", Unit: UnitTime, Heat: true}, {Name: "Device total time", Unit: UnitTime, Heat: true}, {Name: "Device self time", Unit: UnitTime, Heat: true}}}
	device := false
	var walk func(list []analyze.Module, depth int)
	walk = func(list []analyze.Module, depth int) {
		for i := range list {
			x := &list[i]
			device = device || x.Device > 0
			g.Rows = append(g.Rows, []any{strings.Repeat("\u2003", min(depth, 40)) + x.Name, x.Calls, x.Operators, x.Host, x.HostSelf, x.Device, x.DeviceSelf})
			walk(x.Children, depth+1)
		}
	}
	walk(m.Roots, 0)
	time := func(x *analyze.Module) int64 { return x.Host }
	unit := "host time"
	if device {
		time, unit = func(x *analyze.Module) int64 { return x.Device }, "device time"
	}
	var parts []any
	f := moduleFlames(m.Roots, time)
	f.Title = "Modules, " + unit
	if err := f.check(); err != nil {
		return err
	}
	parts = append(parts, &flamePart{partHead: partHead{K: "flame", Title: f.Title}, Label: f.Title, Sets: []flameSet{f.set(false)}})
	if r.o.Charts {
		tree := charts.NewTreeMap()
		tree.AddSeries(unit, treeNodes(broad(m.Roots, time), time, 0))
		r.packed.charts = true
		p, err := newEChart("Modules by "+unit, tree, "Modules by "+unit, false)
		if err != nil {
			return err
		}
		p.Option["tooltip"] = map[string]any{"valueFormatter": "@fn:time"}
		p.Option["legend"] = map[string]any{"show": false}
		if list, ok := p.Option["series"].([]any); ok && len(list) > 0 {
			if s, ok := list[0].(map[string]any); ok {
				s["width"], s["height"], s["top"], s["roam"], s["leafDepth"] = "100%", "86%", 0, false, 2
				s["levels"] = []any{map[string]any{"itemStyle": map[string]any{"gapWidth": 2}}, map[string]any{"colorMappingBy": "id", "itemStyle": map[string]any{"gapWidth": 1}}}
			}
		}
		parts = append(parts, p)
	}
	parts = append(parts, g.part())
	r.view(ViewModules, "Modules", parts...)
	r.heading("Modules")
	r.still.WriteString(g.html(r.o.limit(), r.o.TimeUnit))
	return nil
}

func moduleFlames(roots []analyze.Module, time func(x *analyze.Module) int64) *Flames {
	f := &Flames{Unit: UnitTime, Names: []string{"all modules"}, Name: []int32{0}, Parent: []int32{-1}, Self: []int64{0}, Count: []int64{0}}
	ids := map[string]int32{}
	var add func(list []analyze.Module, parent int32)
	add = func(list []analyze.Module, parent int32) {
		for i := range list {
			x := &list[i]
			id, ok := ids[x.Name]
			if !ok {
				id = int32(len(f.Names))
				ids[x.Name] = id
				f.Names = append(f.Names, x.Name)
			}
			self := time(x)
			for k := range x.Children {
				self -= time(&x.Children[k])
			}
			n := int32(len(f.Parent))
			f.Name, f.Parent, f.Self, f.Count = append(f.Name, id), append(f.Parent, parent), append(f.Self, max(0, self)), append(f.Count, x.Calls)
			add(x.Children, n)
		}
	}
	add(roots, 0)
	return f
}

// broad descends while one module holds nearly all the time, to where there is something to compare.
func broad(list []analyze.Module, time func(x *analyze.Module) int64) []analyze.Module {
	for {
		var sum, most int64
		at := 0
		for i := range list {
			v := time(&list[i])
			sum += v
			if v > most {
				most, at = v, i
			}
		}
		if len(list) == 0 || most*10 < sum*9 || len(list[at].Children) == 0 {
			return list
		}
		list = list[at].Children
	}
}

func treeNodes(list []analyze.Module, time func(x *analyze.Module) int64, depth int) []opts.TreeMapNode {
	var out []opts.TreeMapNode
	for i := range list {
		if len(out) == 200 || depth > 12 {
			break
		}
		out = append(out, opts.TreeMapNode{Name: clipText(strings.ToValidUTF8(list[i].Name, ""), 60), Value: int(time(&list[i])), Children: treeNodes(list[i].Children, time, depth+1)})
	}
	return out
}
