package render

import (
	"github.com/gander-go/gander/profiler/analyze"
)

// maxFunctions bounds the rows of a table of functions.
const maxFunctions = 2000

func (r *report) sampledFunctions() []analyze.FunctionReport {
	if r.functions == nil {
		r.functions = r.a.Functions()
	}
	return r.functions
}

// functionsGrid has what pprof's top shows of one kind of sample.
func functionsGrid(f *analyze.FunctionReport, rows int) *Grid {
	u := flameUnit(f.Unit)
	g := &Grid{Title: f.Title() + " by function", Sort: -1, Total: len(f.Rows), Cols: []Column{{Name: "Function"}, {Name: "Self", Unit: u, Heat: true, Help: "Samples taken in the function itself"}, {Name: "Self %", Unit: UnitPercent},
		{Name: "Total", Unit: u, Heat: true, Help: "Samples taken in it or in what it called; recursion counts once"}, {Name: "Total %", Unit: UnitPercent}, {Name: "Samples", Unit: UnitCount}, {Name: "File", Hide: true}}}
	for i := range f.Rows[:min(rows, len(f.Rows))] {
		w := &f.Rows[i]
		g.Rows = append(g.Rows, []any{w.Name, w.Self, share(w.Self, f.Sum), w.Total, share(w.Total, f.Sum), w.Count, w.File})
	}
	return g
}

// functionsDiffGrid has what pprof's top shows with -diff_base.
func functionsDiffGrid(d *analyze.FunctionsDiff) *Grid {
	u := flameUnit(d.Unit)
	g := &Grid{Title: d.Title() + " by function", Note: formatValue(u, float64(d.BaseSum), "") + " → " + formatValue(u, float64(d.NewSum), "") + ", " + change(d.BaseSum, d.NewSum) + ".", Sort: -1, Total: len(d.Rows), Cols: []Column{{Name: "Function"},
		{Name: "Delta self", Unit: u, Heat: true}, {Name: "Delta %", Unit: UnitPercent}, {Name: "Base self", Unit: u}, {Name: "New self", Unit: u},
		{Name: "Delta total", Unit: u, Heat: true}, {Name: "Base total", Unit: u}, {Name: "New total", Unit: u}, {Name: "File", Hide: true}}}
	for i := range d.Rows[:min(maxFunctions, len(d.Rows))] {
		w := &d.Rows[i]
		g.Rows = append(g.Rows, []any{w.Name, w.NewSelf - w.BaseSelf, percentOf(w.BaseSelf, w.NewSelf), w.BaseSelf, w.NewSelf, w.NewTotal - w.BaseTotal, w.BaseTotal, w.NewTotal, w.File})
	}
	return g
}

// goroutinesGrid has what go tool trace shows of goroutines by function.
func goroutinesGrid(list []analyze.Goroutines) *Grid {
	g := &Grid{Title: "Goroutines by function", Note: "Summed over the goroutines of each function.", Sort: -1, Total: len(list), Cols: []Column{{Name: "Function"}, {Name: "Goroutines", Unit: UnitCount},
		{Name: "Running", Unit: UnitTime, Heat: true}, {Name: "Ready", Unit: UnitTime, Heat: true, Help: "Ready to run, without a processor"}, {Name: "In system calls", Unit: UnitTime}, {Name: "Waiting", Unit: UnitTime}, {Name: "Mostly for"}}}
	for i := range list[:min(maxFunctions, len(list))] {
		w := &list[i]
		g.Rows = append(g.Rows, []any{w.Function, w.Count, w.Running, w.Runnable, w.Syscall, w.Waiting, w.LongestOn})
	}
	return g
}
