package render

import (
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gander-go/gander/profiler/analyze"
)

// maxSteps is the number of steps that the stacked bars show one by one.
const maxSteps = 120

func partNames() []string {
	out := make([]string, analyze.NumStepParts)
	for i := range out {
		out[i] = analyze.StepPart(i).String()
	}
	return out
}

// partColors are series colours by part: device work warm, host work cool, the rest grey.
var partColors = [analyze.NumStepParts]int{1, 6, 5, 4, 9, 2, 0, 7}

// stepAverage is the average step by category, as the plugin's front page shows it.
func stepAverage(s *analyze.StepReport) *Grid {
	g := &Grid{Title: "Execution summary, average step", Sort: -1, Cols: []Column{{Name: "Category"}, {Name: "Time duration", Unit: UnitTime, Heat: true}, {Name: "Percentage", Unit: UnitPercent}}}
	g.Note = "Average step time " + formatTime(s.Mean) + "."
	for i, v := range s.Average {
		g.Rows = append(g.Rows, []any{analyze.StepPart(i).String(), v, 100 * v / s.Mean})
	}
	return g
}

// stepStack draws steps as bars cut by category; average makes it the one bar of the average step.
func stepStack(s *analyze.StepReport, average bool) *stackPart {
	p := &stackPart{partHead: partHead{K: "stack", Title: "Step time by category", Half: average}, Label: "Step time by category", Unit: UnitTime, Cats: partNames(), Colors: partColors[:]}
	steps := s.Steps[:min(len(s.Steps), maxSteps)]
	for c := range analyze.NumStepParts {
		var col []float64
		if average {
			col = append(col, s.Average[c])
		}
		for i := range steps {
			if average && i == 12 {
				break
			}
			col = append(col, float64(steps[i].Parts[c]))
		}
		p.Data = append(p.Data, col)
	}
	if average {
		p.Labels = append(p.Labels, "average")
	}
	for i := range steps {
		if average && i == 12 {
			break
		}
		p.Labels = append(p.Labels, "step "+steps[i].Name)
	}
	return p
}

// stepsView lists every step.
func (r *report) stepsView() error {
	s := r.a.Steps()
	if s == nil || len(s.Steps) == 0 || !s.Real {
		return nil
	}
	g := &Grid{Title: "Steps", Sort: -1, Cols: []Column{{Name: "Step"}, {Name: "Start", Unit: UnitTime}, {Name: "Time", Unit: UnitTime, Heat: true, Help: "To the end of the device work launched in the step"}}}
	for c := range analyze.NumStepParts {
		g.Cols = append(g.Cols, Column{Name: c.String(), Unit: UnitTime, Help: "Each moment counts for the first of Kernel, Memcpy, Memset, Communication, Runtime, DataLoader, CPU Exec that was under way"})
	}
	g.Cols = append(g.Cols, Column{Name: "Device ops", Unit: UnitCount}, Column{Name: "GC", Unit: UnitTime, Hide: true, Help: "Overlaps the categories"}, Column{Name: "Stopped for GC", Unit: UnitTime, Hide: true})
	for i := range s.Steps {
		st := &s.Steps[i]
		row := []any{st.Name, st.Start - r.base, st.Total()}
		for _, v := range st.Parts {
			row = append(row, v)
		}
		g.Rows = append(g.Rows, append(row, st.DeviceOps, st.GC, st.STW))
	}
	if len(s.Dropped) > 0 {
		g.Note = fmt.Sprintf("Left out, because their device work is missing or incomplete: %s.", strings.Join(s.Dropped, ", "))
	}
	var chart any = stepStack(s, false)
	if r.o.Charts {
		c, err := r.stepBars(s)
		if err != nil {
			return err
		}
		chart = c
	}
	r.view(ViewSteps, "Steps", chart, g.part())
	r.heading("Steps")
	r.picture(stepsPicture(s))
	r.still.WriteString(g.html(r.o.limit(), r.o.TimeUnit))
	return nil
}

func (r *report) stepBars(s *analyze.StepReport) (*echartPart, error) {
	bar := charts.NewBar()
	names := make([]string, len(s.Steps))
	for i := range s.Steps {
		names[i] = s.Steps[i].Name
	}
	bar.SetXAxis(names)
	bar.SetGlobalOptions(
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll"}),
		charts.WithXAxisOpts(opts.XAxis{Name: "step"}),
		charts.WithGridOpts(opts.Grid{Left: "90", Right: "60", Bottom: "50"}),
	)
	for c := range analyze.NumStepParts {
		data := make([]opts.BarData, len(s.Steps))
		any := false
		for i := range s.Steps {
			data[i] = opts.BarData{Value: s.Steps[i].Parts[c]}
			any = any || s.Steps[i].Parts[c] > 0
		}
		if any {
			bar.AddSeries(c.String(), data, charts.WithBarChartOpts(opts.BarChart{Stack: "step"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: seriesColors[partColors[c]]}))
		}
	}
	r.packed.charts = true
	p, err := newEChart("Step time by category", bar, "Step time by category, stacked", false)
	if err != nil {
		return nil, err
	}
	if tip, ok := p.Option["tooltip"].(map[string]any); ok {
		tip["valueFormatter"] = "@fn:time"
	}
	if axes, ok := p.Option["yAxis"].([]any); ok {
		for _, a := range axes {
			if m, ok := a.(map[string]any); ok {
				m["axisLabel"] = map[string]any{"formatter": "@fn:tick"}
			}
		}
	}
	return p, nil
}

// pie draws shares of a whole; values without a share are left out. colors are indexes of series colours, nil for their
// own order.
func (r *report) pie(title, label string, names []string, values []float64, colors []int, format string) (*echartPart, error) {
	pie := charts.NewPie()
	var data []opts.PieData
	sum := 0.0
	for _, v := range values {
		sum += max(0, v)
	}
	seen := map[string]bool{}
	for i, v := range values {
		if v > 0 {
			text := clipText(shorten(strings.ToValidUTF8(names[i], "")), 34)
			for n := 2; seen[text]; n++ { // a legend needs names that differ
				text = fmt.Sprintf("%s (%d)", clipText(shorten(names[i]), 30), n)
			}
			seen[text] = true
			d := opts.PieData{Name: fmt.Sprintf("%.1f %%  %s", 100*v/sum, text), Value: v}
			if colors != nil {
				d.ItemStyle = &opts.ItemStyle{Color: seriesColors[colors[i]]}
			}
			if strings.HasSuffix(text, othersSuffix) {
				d.ItemStyle = &opts.ItemStyle{Color: "#b4bcc4"}
			}
			data = append(data, d)
		}
	}
	pie.SetGlobalOptions(
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Orient: "vertical", Left: "252", Top: "middle"}),
	)
	pie.AddSeries(label, data, charts.WithPieChartOpts(opts.PieChart{Radius: []string{"42%", "82%"}, Center: []string{"120", "50%"}}), charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "inside", Color: "#fff", FontSize: 11, Formatter: "{d}%"}))
	r.packed.charts = true
	p, err := newEChart(title, pie, label, true)
	if err != nil {
		return nil, err
	}
	if tip, ok := p.Option["tooltip"].(map[string]any); ok {
		tip["valueFormatter"] = format
	}
	p.Height = 280
	if list, ok := p.Option["series"].([]any); ok && len(list) > 0 {
		if m, ok := list[0].(map[string]any); ok {
			m["minShowLabelAngle"], m["percentPrecision"] = 22, 0 // smaller slices have their share in the legend
		}
	}
	return p, nil
}

// stepsPicture is the static form of the stacked bars.
func stepsPicture(s *analyze.StepReport) *chart {
	const w, row, top, left, right, limit = 900, 18, 34, 80, 100, 30
	steps := s.Steps[:min(len(s.Steps), limit)]
	var longest int64 = 1
	for i := range steps {
		longest = max(longest, steps[i].Total())
	}
	alt := fmt.Sprintf("%s of %s on average.", plural(int64(len(s.Steps)), "step"), formatTime(s.Mean))
	return &chart{w: w, h: top + len(steps)*row + 8, title: "Step time by category", alt: alt, draw: func(p pen) {
		x := 8.0
		for c := range analyze.NumStepParts {
			if s.Average[c] <= 0 {
				continue
			}
			p.rect(x, 10, 10, 10, seriesInk(partColors[c]), 1)
			p.text(x+14, 15, c.String(), anchorStart, inkDim)
			x += 14 + 6.4*float64(len(c.String())) + 14
		}
		for i := range steps {
			y, at := float64(top+i*row), float64(left)
			p.text(left-8, y+row/2, clipText("step "+steps[i].Name, 11), anchorEnd, inkText)
			for c, v := range steps[i].Parts {
				if v > 0 {
					width := float64(v) / float64(longest) * (w - left - right)
					p.rect(at, y+2, width, row-4, seriesInk(partColors[c]), 1)
					at += width
				}
			}
			p.text(at+6, y+row/2, formatTime(float64(steps[i].Total())), anchorStart, inkDim)
		}
	}}
}
