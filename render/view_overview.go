package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
)

// overview is the front page: figures, the average step, the devices, advice, and counters over time.
func (r *report) overview() error {
	ov, advice := r.frontPage()
	var parts []any
	items := r.figures(ov)
	parts = append(parts, &tilesPart{partHead{K: "tiles"}, items})
	r.heading("Overview")
	r.still.WriteString(figuresTable(items))

	if s := ov.Steps; s != nil && s.Mean > 0 && (s.Real || ov.DeviceBusy > 0) {
		g := stepAverage(s)
		p := g.part()
		p.Half = true
		parts = append(parts, p)
		if r.o.Charts {
			pie, err := r.pie("Step time by category", "Average step time by category", partNames(), s.Average[:], partColors[:], "@fn:time")
			if err != nil {
				return err
			}
			parts = append(parts, pie)
		} else {
			parts = append(parts, stepStack(s, true))
		}
		r.still.WriteString(g.html(20, r.o.TimeUnit))
	}
	if ov.DeviceBusy == 0 {
		g, err := r.hottest()
		if err != nil {
			return err
		}
		if len(g.Rows) > 0 {
			parts = append(parts, g.part())
			r.still.WriteString(g.html(10, r.o.TimeUnit))
		}
	}
	if len(r.t.Slices) == 0 { // a sampled profile has nothing else
		for _, f := range r.sampledFunctions() {
			g := functionsGrid(&f, 15)
			parts = append(parts, g.part())
			r.still.WriteString(g.html(15, r.o.TimeUnit))
			r.text.WriteString(g.text(r.o.limit(), r.o.TimeUnit))
		}
	}
	if list := r.a.Goroutines(); len(list) > 0 {
		g := goroutinesGrid(list)
		parts = append(parts, g.part())
		r.still.WriteString(g.html(15, r.o.TimeUnit))
	}
	if len(ov.GPUs) > 0 {
		g := gpuGrid(ov.GPUs)
		if len(ov.GPUs) <= 4 {
			g = turned(g)
		}
		p := g.part()
		p.Half = len(ov.GPUs) <= 4
		parts = append(parts, p)
		r.still.WriteString(g.html(16, r.o.TimeUnit))
	}
	if len(advice) > 0 {
		p := r.advice(advice)
		p.Half = len(ov.GPUs) > 0 && len(ov.GPUs) <= 4
		parts = append(parts, p)
		r.heading("Recommendations")
		r.still.WriteString(adviceHTML(advice))
	}
	curves, err := r.utilisation(ov.GPUs)
	if err != nil {
		return err
	}
	parts = append(parts, curves...)
	counters, err := r.counters()
	if err != nil {
		return err
	}
	parts = append(parts, counters...)
	r.view(ViewOverview, "Overview", parts...)
	return nil
}

// hottest are the rows with the largest host time of their own.
func (r *report) hottest() (*Grid, error) {
	avg, err := r.averages()
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(avg.Rows)
	slices.SortStableFunc(rows, func(a, b analyze.Average) int { return cmp.Compare(b.SelfCPU, a.SelfCPU) })
	g := &Grid{Title: "Largest self times", Sort: -1, Cols: []Column{{Name: "Name"}, {Name: "Self CPU", Unit: UnitTime, Heat: true}, {Name: "Self CPU %", Unit: UnitPercent}, {Name: "CPU total", Unit: UnitTime}, {Name: "# of Calls", Unit: UnitCount}}}
	for i := range rows[:min(10, len(rows))] {
		a := &rows[i]
		if a.SelfCPU > 0 {
			g.Rows = append(g.Rows, []any{a.Key, a.SelfCPU, share(a.SelfCPU, avg.SelfCPUTotal), a.CPUTotal, a.Count})
		}
	}
	return g, nil
}

func (r *report) figures(ov *analyze.OverviewReport) []tile {
	span := float64(max(1, ov.Span))
	if ov.Span == 0 {
		span = float64(r.end)
	}
	var out []tile
	add := func(label, value, help, small string, bar float64) {
		t := tile{Label: label, Value: value, Help: help, Small: small}
		if bar >= 0 {
			t.Bar = &bar
		}
		out = append(out, t)
	}
	percent := func(v float64) string { return formatValue(UnitPercent, 100*v, "") }
	if ov.Events > 0 {
		add("Recorded", formatTime(span), "From the first to the last event", plural(int64(ov.Events), "event"), -1)
	} else { // a sampled profile
		if r.end > 1 {
			add("Recorded", formatTime(float64(r.end)), "How long the profile was taken", "", -1)
		}
		for _, f := range r.sampledFunctions() {
			var n int64
			for i := range f.Rows {
				n += f.Rows[i].Count
			}
			add(f.Title(), formatValue(flameUnit(f.Unit), float64(f.Sum), ""), "Over all samples", plural(n, "sample"), -1)
		}
	}
	if s := ov.Steps; s != nil && s.Real {
		add("Step, average", formatTime(s.Mean), "Wall time of a step, to the end of the device work launched in it", plural(int64(len(s.Steps)), "step"), -1)
	}
	if ov.HostBusy > 0 {
		add("Host busy", percent(float64(ov.HostBusy)/span), "Time in which at least one thread was in a recorded call", formatTime(float64(ov.HostBusy)), float64(ov.HostBusy)/span)
	}
	for _, g := range ov.GPUs {
		name := fmt.Sprintf("GPU %d utilization", g.ID)
		if g.Utilization >= 0 {
			add(name, percent(g.Utilization), "Time in which at least one kernel ran, within the steps", g.Name, g.Utilization)
		}
		if len(ov.GPUs) > 2 {
			continue
		}
		if g.SMEfficiency >= 0 {
			add("Est. SM efficiency", percent(g.SMEfficiency), "Estimate: share of the multiprocessors that had blocks, idle time counts 0", "", g.SMEfficiency)
		}
		if g.Occupancy >= 0 {
			add("Est. achieved occupancy", formatValue(UnitPercent, g.Occupancy, ""), "Estimate: threads in flight of what a multiprocessor can hold, weighted by kernel time", "", g.Occupancy/100)
		}
	}
	if ov.SyncTime > 0 {
		add("Waiting for the device", formatTime(float64(ov.SyncTime)), "Host time in synchronising calls", percent(float64(ov.SyncTime)/span)+" of the recording", -1)
	}
	if ov.GC > 0 || ov.STW > 0 {
		add("Garbage collection", formatTime(float64(ov.GC)), "Time in which a collection was under way; your code runs on beside it", "stopped for "+formatTime(float64(ov.STW)), -1)
	}
	if ov.PeakDevice > 0 {
		add("Peak device memory", formatBytes(float64(ov.PeakDevice)), "Most that was allocated at once", "", -1)
	}
	if ov.PeakHost > 0 {
		add("Peak host memory", formatBytes(float64(ov.PeakHost)), "Most that was allocated at once", "", -1)
	}
	var lost int64
	for _, p := range r.t.Problems {
		lost += p.Count
	}
	if lost > 0 {
		add("Problems", formatCount(float64(lost)), "Events that were lost or repaired; see the tab", "see Problems", -1)
	}
	return out
}

func figuresTable(items []tile) string {
	var b strings.Builder
	b.WriteString("<table><tbody>\n")
	for _, t := range items {
		fmt.Fprintf(&b, "<tr><th scope=\"row\" align=\"left\">%s</th><td align=\"right\">%s</td><td align=\"left\">%s</td></tr>\n", escape(t.Label), escape(t.Value), escape(t.Small))
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

func gpuGrid(list []analyze.GPU) *Grid {
	g := &Grid{Title: "GPU summary", Sort: -1, Cols: []Column{
		{Name: "GPU"}, {Name: "Name"}, {Name: "Memory", Unit: UnitBytes}, {Name: "Compute capability"},
		{Name: "GPU utilization", Unit: UnitPercent, Help: "Time in which at least one kernel ran, of the steps' time"},
		{Name: "Busy with copies", Unit: UnitPercent, Help: "As utilization, with copies and sets"},
		{Name: "Est. SM efficiency", Unit: UnitPercent, Help: "Estimate: blocks per multiprocessor, at most 1, over time; idle time counts 0"},
		{Name: "Est. achieved occupancy", Unit: UnitPercent, Help: "Estimate, weighted by kernel time; idle time does not count"},
		{Name: "Kernel time using tensor cores", Unit: UnitPercent, Help: "Of kernels launched by operators, by the TensorBoard plugin's list of kernel names"},
		{Name: "… current list", Unit: UnitPercent, Help: "By a list that knows Hopper and later"},
		{Name: "Kernel time", Unit: UnitTime},
	}}
	pct := func(v float64) any {
		if v < 0 {
			return nil
		}
		return 100 * v
	}
	for _, d := range list {
		occ := any(d.Occupancy)
		if d.Occupancy < 0 {
			occ = nil
		}
		g.Rows = append(g.Rows, []any{fmt.Sprintf("GPU %d", d.ID), d.Name, orEmpty(d.Memory), d.Capability, pct(d.Utilization), pct(d.BusyRatio), pct(d.SMEfficiency), occ, pct(d.TensorCores), pct(d.TensorCoresNow), d.KernelTime})
	}
	return g
}

// turned makes a row of each column, for tables of a few rows with many columns.
func turned(g *Grid) *Grid {
	out := &Grid{Title: g.Title, Sort: -1, Cols: []Column{{Name: g.Cols[0].Name}}}
	for _, row := range g.Rows {
		out.Cols = append(out.Cols, Column{Name: cellText(g.Cols[0], row[0], "")})
	}
	for i, c := range g.Cols[1:] {
		row := []any{c.Name}
		for _, r := range g.Rows {
			row = append(row, cellText(c, r[i+1], ""))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (r *report) advice(list []analyze.Advice) *advicePart {
	p := &advicePart{partHead: partHead{K: "advice", Title: "Recommendations"}, Items: []adviceItem{}}
	for _, a := range list {
		it := adviceItem{Severity: a.Severity.String(), Title: a.Title, Text: a.Text, Remedy: a.Remedy, Seen: [][2]string{}}
		for _, e := range a.Evidence[:min(8, len(a.Evidence))] {
			name := ""
			if e.Slice >= 0 && int(e.Slice) < len(r.t.Slices) {
				name = r.t.Name(&r.t.Slices[e.Slice])
			}
			it.Seen = append(it.Seen, [2]string{e.String(), name})
		}
		p.Items = append(p.Items, it)
	}
	return p
}

// adviceText writes the advice into the text form.
func (r *report) adviceText() {
	_, advice := r.frontPage()
	if len(advice) == 0 {
		return
	}
	r.text.WriteString("\nRecommendations:\n")
	for _, a := range advice {
		fmt.Fprintf(&r.text, "- %s (%s): %s %s\n", oneLine(a.Title), a.Severity, oneLine(a.Text), oneLine(a.Remedy))
		for _, e := range a.Evidence {
			r.text.WriteString("    " + oneLine(e.String()) + "\n")
		}
	}
}

func adviceHTML(list []analyze.Advice) string {
	var b strings.Builder
	b.WriteString("<ul>\n")
	for _, a := range list {
		fmt.Fprintf(&b, "<li><b>%s</b> (%s): %s %s", escape(a.Title), a.Severity, escape(a.Text), escape(a.Remedy))
		for i, e := range a.Evidence {
			if i == 0 {
				b.WriteString("<ul>")
			}
			b.WriteString("<li>" + escape(e.String()) + "</li>")
			if i == len(a.Evidence)-1 {
				b.WriteString("</ul>")
			}
		}
		b.WriteString("</li>\n")
	}
	b.WriteString("</ul>\n")
	return b.String()
}

// utilisation shows each device over time.
func (r *report) utilisation(list []analyze.GPU) ([]any, error) {
	var out []any
	for _, d := range list {
		g := Graph{Title: fmt.Sprintf("GPU %d over time", d.ID), Unit: UnitPercent, Marks: r.steps}
		if len(d.UtilCurve) > 1 && d.Bucket > 0 {
			s := Series{Name: "Utilization", Area: true}
			for i, v := range d.UtilCurve {
				s.Times = append(s.Times, d.Start+int64(i)*d.Bucket)
				s.Values = append(s.Values, 100*v)
			}
			g.Series = append(g.Series, s)
			g.Note = "Share of each " + formatTime(float64(d.Bucket)) + " in which a kernel ran."
		}
		if len(d.SMEffTimes) > 1 {
			s := Series{Name: "Est. SM efficiency"}
			s.Times, s.Values = meanCurve(d.SMEffTimes, d.SMEffValues, r.base, r.end, 400)
			for i := range s.Values {
				s.Values[i] *= 100
			}
			g.Series = append(g.Series, s)
			g.Note = strings.TrimSpace(g.Note + " SM efficiency is the mean of each " + formatTime(float64(max(1, r.end/400))) + ".")
		}
		if len(g.Series) == 0 {
			continue
		}
		p, err := g.part(r.container, r.base, r.end)
		if err != nil {
			return nil, err
		}
		p.Height = 180
		out = append(out, p)
		if len(out) == 8 {
			break
		}
	}
	return out, nil
}

// meanCurve turns a step function into its mean over each of n stretches of [base, base+span].
func meanCurve(times []int64, values []float64, base, span int64, n int) ([]int64, []float64) {
	width := max(1, span/int64(n))
	ts, vs := make([]int64, 0, n), make([]float64, 0, n)
	k := 0
	for from := base; from < base+span; from += width {
		to := min(from+width, base+span)
		sum := 0.0
		for at := from; at < to; {
			for k+1 < len(times) && times[k+1] <= at {
				k++
			}
			next := to
			if k+1 < len(times) {
				next = min(next, times[k+1])
			}
			if times[k] > at { // before the first value
				next = min(to, times[k])
			} else {
				sum += values[k] * float64(next-at)
			}
			at = next
		}
		ts, vs = append(ts, from), append(vs, sum/float64(to-from))
	}
	return ts, vs
}

// counters shows sampled values, one chart per unit. Sizes in bytes are in the memory view.
func (r *report) counters() ([]any, error) {
	by := map[string]*Graph{}
	var order []string
	for i := range r.t.Counters {
		c := &r.t.Counters[i]
		if c.Unit == "bytes" || len(c.Times) < 2 {
			continue
		}
		g := by[c.Unit]
		if g == nil {
			if len(by) == 12 {
				continue
			}
			g = &Graph{Title: "Counters", Unit: counterUnit(c.Unit), Marks: r.steps}
			if c.Unit != "" {
				g.Title = "Counters in " + c.Unit
			}
			by[c.Unit] = g
			order = append(order, c.Unit)
		}
		if len(g.Series) < 10 {
			g.Series = append(g.Series, Series{Name: c.Name, Times: c.Times, Values: c.Values})
		}
	}
	var out []any
	for _, u := range order {
		p, err := by[u].part(r.container, r.base, r.end)
		if err != nil {
			return nil, err
		}
		p.Height, p.Half = 170, true
		out = append(out, p)
	}
	return out, nil
}

func counterUnit(s string) Unit {
	switch s {
	case "percent":
		return UnitPercent
	case "ns":
		return UnitTime
	}
	return UnitNumber
}
